package harness

import (
	"os"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// WaysToApply are the arguments of kubectl by which a manifest may get in.
var WaysToApply = [][]string{{"apply"}, {"apply", "--server-side"}, {"create", "--validate=strict"}}

// AcceptsAll sends a manifest to the API server by kubectl with some arguments: no warning is given, and nothing of its spec
// is dropped.
func (p *Place) AcceptsAll(file string, how []string) {
	p.T.Helper()
	text, err := os.ReadFile(file)
	require.NoError(p.T, err)
	sent := &unstructured.Unstructured{}
	require.NoError(p.T, yaml.Unmarshal(text, &sent.Object))
	assert.NotContains(p.T, p.MustKubectl(append(how, "-f", file)...), "Warning")

	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(sent.GroupVersionKind())
	require.NoError(p.T, p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: sent.GetName()}, stored))
	assert.Subset(p.T, stored.Object["spec"], sent.Object["spec"])
}
