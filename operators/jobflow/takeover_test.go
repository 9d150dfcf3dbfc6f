package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// left is a flow of jobflow-operator as it is left: a chain, of which the status is one word.
func left(state v1alpha1.State) *v1alpha1.JobFlow {
	flow := makeFlow(node("a"), node("b", "a"), node("c"))
	flow.Status = v1alpha1.JobFlowStatus{State: state}
	flow.CreationTimestamp = at(-3600)
	return flow
}

// A flow that had ended under jobflow-operator doesn't run again, whether its Jobs are there or not.
func TestAFlowThatEndedBeforeIsTakenOver(t *testing.T) {
	for name, tt := range map[string]struct {
		state v1alpha1.State
		jobs  []client.Object
		want  map[string]v1alpha1.FlowState
		cond  string
	}{
		"succeeded, Jobs gone":  {v1alpha1.StateSucceed, nil, nil, "Succeeded"},
		"succeeded, Jobs there": {v1alpha1.StateSucceed, []client.Object{completeJob("a"), completeJob("b"), completeJob("c")}, nil, "Succeeded"},
		"failed, Jobs gone":     {v1alpha1.StateFailed, nil, map[string]v1alpha1.FlowState{"a": "Failed", "b": "Failed", "c": "Failed"}, "Failed"},
		"failed, Jobs there":    {v1alpha1.StateFailed, []client.Object{failedJob("a")}, map[string]v1alpha1.FlowState{"a": "Failed", "b": "Skipped", "c": "Skipped"}, "Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			flow := left(tt.state)
			for range 3 {
				assert.Empty(t, started(planOf(flow, tt.jobs...)), "nothing runs again")
				flow = after(flow, tt.jobs...)
			}
			assert.Equal(t, tt.state, flow.Status.State)
			assert.NotNil(t, flow.Status.CompletionTime)
			assert.EqualValues(t, "True", condition(flow, tt.cond).Status)
			for node, state := range tt.want {
				if state == "Failed" {
					assert.Equal(t, state, states(flow)[node], node)
				}
			}
			assert.Nil(t, planOf(flow, tt.jobs...).Status, "said once")
		})
	}
}

// What still runs of a flow that had failed comes to its end, and nothing more is started.
func TestWhatRunsOfAFlowThatHadFailedEnds(t *testing.T) {
	flow := after(left(v1alpha1.StateFailed), failedJob("a"), runningJob("c"))
	assert.Nil(t, flow.Status.CompletionTime)
	assert.Empty(t, started(planOf(flow, failedJob("a"), runningJob("c"))))
	flow = after(flow, failedJob("a"), completeJob("c"))
	assert.Equal(t, v1alpha1.StateFailed, flow.Status.State)
	assert.NotNil(t, flow.Status.CompletionTime)
}

// A flow under way is carried on with, by the names of its Jobs.
func TestAFlowUnderWayIsCarriedOn(t *testing.T) {
	assert.Equal(t, []string{"demo-b"}, started(planOf(left(v1alpha1.StateRunning), completeJob("a"), completeJob("c"))))
}
