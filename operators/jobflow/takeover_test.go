package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// left is a flow of jobflow-operator as it is left: a chain, of which the status is one word.
func left(state v1alpha1.State) *stepper {
	flow := makeFlow(node("a"), node("b", "a"), node("c"))
	flow.Status = v1alpha1.JobFlowStatus{State: state}
	flow.CreationTimestamp = at(-3600)
	return &stepper{flow: flow}
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
			s := left(tt.state)
			for range 3 {
				assert.Empty(t, started(s.step(tt.jobs...)), "nothing runs again")
			}
			assert.Equal(t, tt.state, s.flow.Status.State)
			assert.NotNil(t, s.flow.Status.CompletionTime)
			assert.EqualValues(t, "True", condition(s.flow, tt.cond).Status)
			for node, state := range tt.want {
				if state == "Failed" {
					assert.Equal(t, state, states(s.flow)[node], node)
				}
			}
			assert.Nil(t, s.step(tt.jobs...).Status, "said once")
		})
	}
}

// What still runs of a flow that had failed comes to its end, and nothing more is started.
func TestWhatRunsOfAFlowThatHadFailedEnds(t *testing.T) {
	s := left(v1alpha1.StateFailed)
	s.step(failedJob("a"), runningJob("c"))
	assert.Nil(t, s.flow.Status.CompletionTime)
	assert.Empty(t, started(s.step(failedJob("a"), runningJob("c"))))
	s.step(failedJob("a"), completeJob("c"))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.NotNil(t, s.flow.Status.CompletionTime)
}

// A flow under way is carried on with, by the names of its Jobs.
func TestAFlowUnderWayIsCarriedOn(t *testing.T) {
	s := left(v1alpha1.StateRunning)
	var jobs []client.Object
	for _, job := range []*batchv1.Job{completeJob("a"), completeJob("c")} {
		jobs = append(jobs, job)
	}
	assert.Equal(t, []string{"demo-b"}, started(s.step(jobs...)))
}
