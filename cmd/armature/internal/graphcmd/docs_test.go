package graphcmd

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// TestPictureInTheDocs: docs/jobflow-when.svg is what the command draws of the example once it has run.
// UPDATE_DOCS=1 writes it anew.
func TestPictureInTheDocs(t *testing.T) {
	const root, picture = "../../../../", "docs/jobflow-when.svg"
	manifest, err := os.ReadFile(root + "examples/jobflow/when.yaml")
	require.NoError(t, err)
	flow := &v1alpha1.JobFlow{}
	require.NoError(t, yaml.UnmarshalStrict(manifest, flow))
	for name, state := range map[string]v1alpha1.FlowState{
		"pick": v1alpha1.FlowSucceed, "on-gpu": v1alpha1.FlowSkipped, "on-cpu": v1alpha1.FlowSucceed, "report": v1alpha1.FlowSucceed,
		"check": v1alpha1.FlowFailed, "repair": v1alpha1.FlowSucceed,
	} {
		flow.Status.Flows = append(flow.Status.Flows, v1alpha1.FlowStatus{Name: name, State: state})
	}
	var b strings.Builder
	require.NoError(t, writeSVG(&b, newGraph(flow)))
	if os.Getenv("UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(root+picture, []byte(b.String()), 0o600))
	}
	inDocs, err := os.ReadFile(root + picture)
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(inDocs), "UPDATE_DOCS=1 go test ./cmd/armature/internal/graphcmd")
}
