package controlcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestSuspendWhatHasEnded: it would have no effect, and isn't said to.
func TestSuspendWhatHasEnded(t *testing.T) {
	ended := &unstructured.Unstructured{Object: map[string]any{"kind": "JobFlow", "status": map[string]any{"state": "Succeed", "completionTime": "2026-01-01T00:00:00Z"}}}
	assert.EqualError(t, suspend(ended, suspendFields["JobFlow"]), "it has ended already: its state is Succeed")
	assert.NotContains(t, ended.Object, "spec")

	running := &unstructured.Unstructured{Object: map[string]any{"kind": "JobFlow", "status": map[string]any{"state": "Running"}}}
	require.NoError(t, suspend(running, suspendFields["JobFlow"]))
	on, _, err := unstructured.NestedBool(running.Object, "spec", "suspend")
	require.NoError(t, err)
	assert.True(t, on)
}
