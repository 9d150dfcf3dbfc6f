package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// An output that no node reads is never in the status, where all readers of the flow would see it.
func TestOutputsWithoutReadersAreNotRecorded(t *testing.T) {
	after := node("after", "writer")
	after.When = "jobs.writer.succeeded"
	s := &stepper{flow: makeFlow(node("writer"), node("slow"), after)}
	s.step()
	s.step(append(putOut("writer", "secret"), runningJob("slow"))...)
	assert.Equal(t, v1alpha1.FlowSucceed, states(s.flow)["writer"])
	assert.Empty(t, s.flow.Status.Outputs)
	s.step(append(putOut("writer", "secret"), completeJob("slow"))...)
	s.step(completeJob("after"))
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
	assert.Empty(t, s.flow.Status.Outputs)
}
