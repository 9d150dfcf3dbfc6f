package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

// A paused flow starts nothing and says so, until it is unpaused; running pods continue.
func TestPause(t *testing.T) {
	p := newPlace(t)
	end := filepath.Join(t.TempDir(), "end")
	p.create(flowOf("f", node("a", harness.ScriptUntil(end)), node("b", "true", "a")))
	p.waitState("f", v1alpha1.StateRunning)
	out, errs, code := p.armature("pause", "jobflow/f")
	assert.Zero(t, code, errs)
	assert.Equal(t, "jobflow.api.practice.com/f paused\n", out)
	p.wait("f", "the condition", func(f *v1alpha1.JobFlow) bool {
		return meta.IsStatusConditionTrue(f.Status.Conditions, events.ConditionPaused)
	})
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	p.Eventually("a ends", func() bool {
		var job batchv1.Job
		err := p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "f-a"}, &job)
		return err == nil && job.Status.Succeeded == 1
	})
	p.explains("jf/f", 1, "it is paused: its operator writes nothing")
	p.wait("f", "it is as it was", func(f *v1alpha1.JobFlow) bool { return f.Status.State == v1alpha1.StateRunning })
	assert.Equal(t, []string{"f-a"}, p.Jobs())

	out, errs, code = p.armature("unpause", "jobflow/f")
	assert.Zero(t, code, errs)
	assert.Equal(t, "jobflow.api.practice.com/f unpaused\n", out)
	p.waitState("f", v1alpha1.StateSucceed)
	p.wait("f", "no condition", func(f *v1alpha1.JobFlow) bool {
		return meta.FindStatusCondition(f.Status.Conditions, events.ConditionPaused) == nil
	})
}
