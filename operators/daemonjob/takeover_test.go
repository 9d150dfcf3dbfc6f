package daemonjob

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// A job that had ended under jobflow-operator doesn't run again on any node.
func TestAJobThatEndedBeforeIsTakenOver(t *testing.T) {
	for _, state := range []v1alpha1.State{v1alpha1.StateSucceed, v1alpha1.StateFailed} {
		job := makeJob()
		job.Status.State = state
		w := worldOf(3, job)
		for range 3 {
			w.pass()
		}
		assert.Empty(t, w.started())
		assert.Equal(t, state, w.status().State)
		assert.NotNil(t, w.status().CompletionTime)
		assert.EqualValues(t, "True", w.condition(map[v1alpha1.State]string{v1alpha1.StateSucceed: "Succeeded", v1alpha1.StateFailed: "Failed"}[state]).Status)
		assert.Nil(t, w.pass().Status, "said once")
	}
}
