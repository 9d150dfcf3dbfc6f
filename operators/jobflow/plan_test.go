package jobflow

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/message"
)

// The clock of the Jobs may be behind the manager's.
func TestAnEndIsNotBeforeItsStart(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.step()
	s.step(completeJob("a"))
	assert.Equal(t, at(10), *s.flow.Status.StartTime)
	assert.Equal(t, at(10), *s.flow.Status.CompletionTime)
}

func TestPlanIgnoresStrangers(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	assert.Equal(t, []string{"demo-a"}, started(s.step(failedJob("other"))))
	assert.Equal(t, v1alpha1.StatePending, s.flow.Status.State)
}

func TestPlanOfEdits(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"), node("gone"))}
	s.step()
	s.step(runningJob("a"), runningJob("gone"))
	s.edit(func(f *v1alpha1.JobFlow) {
		f.Spec.Flows = []v1alpha1.Flow{node("a", "new"), node("b", "a"), node("new")}
	})
	plan := s.step(runningJob("a"), runningJob("gone"))
	assert.Equal(t, []string{"demo-new"}, started(plan), "added; a has been started and stays so")
	assert.Equal(t, map[string]v1alpha1.FlowState{"a": "Running", "b": "Pending", "new": "Pending"}, states(s.flow), "gone is forgotten")

	s.step(completeJob("a"), completeJob("b"), completeJob("new"))
	require.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows = append(f.Spec.Flows, node("late")) })
	plan = s.step()
	assert.Empty(t, plan.Children, "over is over")
	assert.Equal(t, []string{"ChangeIgnored"}, reasons(plan.Events))
	assert.Equal(t, s.flow.Generation, s.flow.Status.ObservedGeneration)
	assert.Equal(t, s.flow.Generation, condition(s.flow, "Ready").ObservedGeneration)
	assert.Zero(t, s.step())
}

func TestPlanLeavesTheBuildersConditionAlone(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.step()
	*s.flow.Conditions() = append(*s.flow.Conditions(), metav1.Condition{Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: "ApplyFailed"})
	s.step()
	assert.Equal(t, metav1.ConditionTrue, condition(s.flow, "Stalled").Status)
}

func TestPlanBoundsWhatItTells(t *testing.T) {
	flow := makeFlow()
	var jobs []client.Object
	for i := range 50 {
		name := fmt.Sprintf("n%02d", i)
		flow.Spec.Flows = append(flow.Spec.Flows, node(name))
		jobs = append(jobs, failedJob(name))
	}
	s := &stepper{flow: flow}
	s.step()
	plan := s.step(jobs...)
	require.Len(t, plan.Events, message.MaxListed+2)
	assert.Equal(t, "n00 failed: BackoffLimitExceeded: Job has reached the specified backoff limit", plan.Events[0].Note)
	assert.Equal(t, "and 40 more", plan.Events[message.MaxListed].Note)
	assert.Less(t, len(condition(s.flow, "Failed").Message), maxMessage)
	assert.Contains(t, condition(s.flow, "Failed").Message, "; and 40 more")
}

func TestDescribeLongLists(t *testing.T) {
	assert.Equal(t, "x; x; x; x; x; x; x; x; x; x; and 2 more", enumerate(make([]int, 12), func(int) string { return "x" }))
}
