package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/events"
)

// The diff of a new object has each desired field, with the value that admission gives it, and added labels,
// whatever else the API server adds to the object and its lists, or drops.
func TestDiffOfANewObject(t *testing.T) {
	type m = map[string]any
	pod := func(labels m, containers ...any) m {
		return m{"metadata": m{"labels": labels}, "spec": m{"containers": containers}}
	}
	w := &Write{
		Operation: events.ReasonCreated,
		Desired:   &Desired{fields: pod(m{"a": "1"}, m{"name": "web", "image": "web:1", "stdin": false})},
		Stored: &unstructured.Unstructured{Object: pod(m{"a": "1", "b": "2"},
			m{"name": "web", "image": "mirror/web:1", "imagePullPolicy": "Always"}, m{"image": "sidecar:1"})},
	}
	got, err := w.Diff()
	require.NoError(t, err)
	assert.Equal(t, []delta.Change{
		{Path: "metadata.labels.a", New: "1"}, {Path: "metadata.labels.b", New: "2", ByServer: true},
		{Path: "spec.containers[name=web].image", New: "web:1"}, {Path: "spec.containers[name=web].name", New: "web"},
		{Path: "spec.containers[name=web].stdin", New: false},
	}, got, "lists without a common key aren't compared by element")

	containers, _, err := unstructured.NestedSlice(w.Stored.(*unstructured.Unstructured).Object, "spec", "containers")
	require.NoError(t, err)
	containers[1].(m)["name"] = "sidecar"
	w.Stored = &unstructured.Unstructured{Object: pod(m{"a": "1"}, containers...)}
	got, err = w.Diff()
	require.NoError(t, err)
	assert.Equal(t, []delta.Change{
		{Path: "metadata.labels.a", New: "1"},
		{Path: "spec.containers[name=web].image", New: "mirror/web:1", ByServer: true}, {Path: "spec.containers[name=web].name", New: "web"},
	}, got)
}

func TestSecretsAreHidden(t *testing.T) {
	for path, hides := range map[string]bool{
		`data["tls.key"]`: true, "data.a": true, "data": true, "stringData.a": true,
		`metadata.annotations["` + corev1.LastAppliedConfigAnnotation + `"]`: true,
		"metadata.labels.a": false, "type": false,
	} {
		assert.Equal(t, hides, holdsSecret(path), path)
	}
	assert.Equal(t, delta.Change{Path: "data.p", New: "***"}, hidden(delta.Change{Path: "data.p", New: "x"}))
	assert.Equal(t, delta.Change{Path: "data.p", Old: "***"}, hidden(delta.Change{Path: "data.p", Old: "x"}))
	assert.Equal(t, delta.Change{Path: "data.p", Old: "*** (before)", New: "*** (after)"},
		hidden(delta.Change{Path: "data.p", Old: "x", New: "y"}))
	assert.Equal(t, delta.Change{Path: "type", New: "Opaque"}, hidden(delta.Change{Path: "type", New: "Opaque"}))
}
