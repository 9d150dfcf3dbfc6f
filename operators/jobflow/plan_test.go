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

// seedGraph has the edges of the seed's example.
func seedGraph() *v1alpha1.JobFlow {
	return makeFlow(node("job1"), node("job2", "job1"), node("job3", "job1", "job2"), node("job4"), node("job5", "job4", "job2"))
}

func TestPlanRunsInDependencyOrder(t *testing.T) {
	s := &stepper{flow: seedGraph()}

	plan := s.step()
	assert.Equal(t, []string{"demo-job1", "demo-job4"}, started(plan))
	assert.Equal(t, []string{"Started"}, reasons(plan.Events))
	assert.Equal(t, v1alpha1.StatePending, s.flow.Status.State)
	assert.Equal(t, at(10), *s.flow.Status.StartTime)

	plan = s.step()
	assert.Equal(t, []string{"demo-job1", "demo-job4"}, started(plan), "not seen yet: wanted again")
	assert.Nil(t, plan.Status, "and nothing new to say")
	assert.Empty(t, plan.Events)

	plan = s.step(runningJob("job1"), runningJob("job4"))
	assert.Empty(t, started(plan))
	assert.Equal(t, v1alpha1.StateRunning, s.flow.Status.State)
	ready := condition(s.flow, "Ready")
	assert.Equal(t, metav1.ConditionFalse, ready.Status)
	assert.Equal(t, "Running", ready.Reason)
	assert.Equal(t, "0 of 5 succeeded, 2 running, 3 pending", ready.Message)
	assert.Equal(t, at(10), ready.LastTransitionTime, "it has been False since the start")

	plan = s.step(completeJob("job1"), runningJob("job4"))
	assert.Equal(t, []string{"demo-job2"}, started(plan))
	plan = s.step(completeJob("job1"), completeJob("job4"), runningJob("job2"))
	assert.Empty(t, started(plan))
	plan = s.step(completeJob("job1"), completeJob("job4"), completeJob("job2"))
	assert.Equal(t, []string{"demo-job3", "demo-job5"}, started(plan))
	plan = s.step(completeJob("job3"), completeJob("job5"))
	assert.Equal(t, []string{"Succeeded"}, reasons(plan.Events))

	status := s.flow.Status
	assert.Equal(t, v1alpha1.StateSucceed, status.State)
	assert.Equal(t, at(10), *status.CompletionTime, "the Jobs' clock is behind ours: an end isn't before its start")
	assert.Equal(t, metav1.ConditionTrue, condition(s.flow, "Ready").Status)
	assert.Equal(t, at(70), condition(s.flow, "Ready").LastTransitionTime)
	assert.Equal(t, metav1.ConditionTrue, condition(s.flow, "Succeeded").Status)
	assert.Empty(t, condition(s.flow, "Stalled"))
	assert.Empty(t, condition(s.flow, "Failed"))
	end, start := at(5), at(1)
	assert.Equal(t, v1alpha1.FlowStatus{
		Name: "job3", State: v1alpha1.FlowSucceed, Job: "demo-job3", Attempts: 1, StartTime: &start, CompletionTime: &end,
	}, status.Flows[2])

	assert.Zero(t, s.step(), "its Jobs are gone, and it is over")
}

func TestPlanAfterAFailure(t *testing.T) {
	// b fails; c, d and f come after it, e doesn't.
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("c", "b", "a"), node("d", "c"), node("e", "a"), node("f", "d"))}
	s.step()
	plan := s.step(completeJob("a"), failedJob("b"))
	assert.Equal(t, []string{"demo-e"}, started(plan), "an independent branch goes on")
	assert.Equal(t, []string{"JobFailed"}, reasons(plan.Events))
	assert.Equal(t, "b failed: BackoffLimitExceeded: Job has reached the specified backoff limit", plan.Events[0].Note)
	assert.Equal(t, "demo-b", plan.Events[0].Related.(client.Object).GetName())
	assert.Equal(t, v1alpha1.StateRunning, s.flow.Status.State)
	assert.Equal(t, "1 of 6 succeeded, 0 running, 1 pending, 1 failed, 3 skipped", condition(s.flow, "Ready").Message)
	assert.Equal(t, "not started: b failed", s.flow.Status.Flows[2].Message)
	assert.Equal(t, "not started: b failed", s.flow.Status.Flows[5].Message, "the cause, not the neighbour")

	plan = s.step(completeJob("a"), failedJob("b"), completeJob("e"))
	assert.Equal(t, []string{"Failed"}, reasons(plan.Events))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.NotNil(t, s.flow.Status.CompletionTime)
	for kind, want := range map[string]metav1.ConditionStatus{"Ready": "False", "Failed": "True", "Stalled": "True"} {
		c := condition(s.flow, kind)
		assert.Equal(t, want, c.Status, kind)
		assert.Equal(t, "JobFailed", c.Reason, kind)
		assert.Equal(t, "b failed: BackoffLimitExceeded: Job has reached the specified backoff limit", c.Message, kind)
		assert.EqualValues(t, 1, c.ObservedGeneration, kind)
	}
	assert.Empty(t, condition(s.flow, "Succeeded"))
	assert.Equal(t, map[string]v1alpha1.FlowState{"a": "Succeed", "b": "Failed", "c": "Skipped", "d": "Skipped", "e": "Succeed", "f": "Skipped"}, states(s.flow))
}

func TestPlanRemembersEnds(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("c", "a"))}
	s.step()
	s.step(completeJob("a"), failedJob("b"))
	plan := s.step() // all Jobs deleted
	assert.Equal(t, []string{"demo-c"}, started(plan), "a and b have ended; c hadn't been seen")
	s.step(runningJob("c"))
	plan = s.step()
	assert.Equal(t, []string{"demo-c"}, started(plan), "c's end wasn't seen: it runs again")
	assert.Equal(t, v1alpha1.FlowPending, states(s.flow)["c"])
}

func TestPlanWaitsForALeavingJob(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.step()
	assert.Empty(t, started(s.step(deletingJob(runningJob("a")))))
	assert.Equal(t, v1alpha1.FlowRunning, states(s.flow)["a"])
	assert.Equal(t, []string{"demo-a"}, started(s.step()), "gone: made again")
	s.step(deletingJob(completeJob("a")))
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State, "what has ended has ended")
}

func TestPlanIgnoresStrangers(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	assert.Equal(t, []string{"demo-a"}, started(s.step(failedJob("other"))))
	assert.Equal(t, v1alpha1.StatePending, s.flow.Status.State)
}

func TestPlanWaitsForATemplate(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), nodeRef("b", "late", "a"), nodeRef("c", "there"), node("d", "b"))}
	s.referred = []client.Object{jobTemplate("there")}

	plan := s.step()
	assert.Equal(t, []string{"demo-a", "demo-c"}, started(plan), "the others go on")
	assert.Equal(t, []string{"Started", "JobTemplateNotFound"}, reasons(plan.Events))
	message := `flow "b" waits for JobTemplate "late": spec.flows[1].jobTemplateRef: Not found: "late"`
	assert.Equal(t, message, plan.Events[1].Note)
	assert.Equal(t, "JobTemplateNotFound", condition(s.flow, "Ready").Reason)
	assert.Equal(t, message, condition(s.flow, "Ready").Message)

	plan = s.step(completeJob("a"), completeJob("c"))
	assert.Empty(t, started(plan))
	assert.Empty(t, plan.Events, "told already")
	assert.Equal(t, v1alpha1.StateRunning, s.flow.Status.State)

	s.referred = append(s.referred, jobTemplate("late"))
	plan = s.step(completeJob("a"), completeJob("c"))
	assert.Equal(t, []string{"demo-b"}, started(plan))
	assert.Equal(t, "Running", condition(s.flow, "Ready").Reason)
	assert.Empty(t, s.flow.Status.Flows[1].Message)
}

func TestPlanOfATemplateWithoutTheVolume(t *testing.T) {
	n := nodeRef("a", "t")
	n.ShareVolumeMounts = mounts("work")
	s := &stepper{flow: makeFlow(n, node("b")), referred: []client.Object{jobTemplate("t")}}
	plan := s.step()
	assert.Equal(t, []string{"demo-b"}, started(plan))
	assert.Equal(t, []string{"Started", "InvalidSpec"}, reasons(plan.Events))
	assert.Equal(t, `flow "a" neither shareVolumes nor JobTemplate "t" has the volume: spec.flows[0].shareVolumeMounts[0].name: Not found: "work"`, plan.Events[1].Note)
	assert.Equal(t, "InvalidSpec", condition(s.flow, "Ready").Reason)
	assert.Empty(t, s.step().Events)

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.ShareVolumes = volumes("work") })
	assert.Equal(t, []string{"demo-a", "demo-b"}, started(s.step()))
}

func TestPlanOfAnInvalidSpec(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "nowhere"))}
	plan := s.step()
	message := `flow "b": spec.flows[1].dependencies[0]: Not found: "nowhere"`
	assert.Empty(t, plan.Children)
	require.Len(t, plan.Events, 1)
	assert.Equal(t, "InvalidSpec", plan.Events[0].Reason)
	assert.Equal(t, "Warning", plan.Events[0].Type)
	assert.Equal(t, message, plan.Events[0].Note)
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.Nil(t, s.flow.Status.StartTime)
	assert.Nil(t, s.flow.Status.CompletionTime, "it can be mended")
	for kind, want := range map[string]metav1.ConditionStatus{"Ready": "False", "Stalled": "True", "Failed": "True"} {
		assert.Equal(t, want, condition(s.flow, kind).Status)
		assert.Equal(t, "InvalidSpec", condition(s.flow, kind).Reason)
		assert.Equal(t, message, condition(s.flow, kind).Message)
	}
	assert.Zero(t, s.step(), "told once")

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.ShareVolumes = volumes("unused") })
	assert.Equal(t, []string{"InvalidSpec"}, reasons(s.step().Events), "another generation, still invalid")
	assert.EqualValues(t, 2, s.flow.Status.ObservedGeneration)

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].Dependencies = []string{"a"} })
	plan = s.step()
	assert.Equal(t, []string{"demo-a"}, started(plan), "mended")
	assert.Equal(t, []string{"Started"}, reasons(plan.Events))
	assert.Empty(t, condition(s.flow, "Stalled"))
	assert.Empty(t, condition(s.flow, "Failed"))
	assert.Equal(t, v1alpha1.StatePending, s.flow.Status.State)
}

func TestPlanOfASpecThatBecameInvalid(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"), node("c"))}
	s.step()
	s.step(runningJob("a"), runningJob("c"))
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].Dependencies = []string{"b"} })

	plan := s.step(completeJob("a"), failedJob("c"))
	assert.Empty(t, plan.Children)
	assert.Empty(t, plan.Delete)
	assert.Equal(t, []string{"InvalidSpec", "JobFailed"}, reasons(plan.Events))
	assert.Equal(t, v1alpha1.StateRunning, s.flow.Status.State)
	assert.Equal(t, v1alpha1.FlowSucceed, states(s.flow)["a"], "ends are recorded all the same")
	assert.Zero(t, s.step())

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].Dependencies = []string{"a"} })
	assert.Equal(t, []string{"demo-b"}, started(s.step()), "a isn't run again")
}

func TestAnInvalidFlowIsSuspendedAndResumed(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"))}
	s.step()
	s.step(runningJob("a"))
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].Dependencies, f.Spec.Suspend = []string{"b"}, true })
	plan := s.step(runningJob("a"))
	assert.Len(t, plan.Edits, 1)
	assert.Equal(t, metav1.ConditionTrue, condition(s.flow, "Suspended").Status)
	assert.Nil(t, s.flow.Status.ActiveSince, "its deadline doesn't run")
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Suspend = false })
	suspended := plan.Edits[0].After
	assert.Len(t, s.step(suspended).Edits, 1)
	assert.Equal(t, metav1.ConditionFalse, condition(s.flow, "Suspended").Status)
	assert.Equal(t, "InvalidSpec", condition(s.flow, "Ready").Reason)
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

func TestPlanOfARescuedBranch(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"), node("slow"))}
	s.step()
	s.step(failedJob("a"), runningJob("slow"))
	require.Equal(t, v1alpha1.FlowSkipped, states(s.flow)["b"])
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].Dependencies = nil })
	assert.Equal(t, []string{"demo-b"}, started(s.step(failedJob("a"), runningJob("slow"))), "what is skipped hasn't been started")
}

func TestPlanOfAFlowBeingDeleted(t *testing.T) {
	s := &stepper{flow: seedGraph()}
	now := at(3)
	s.flow.DeletionTimestamp = &now
	plan := s.step()
	assert.Empty(t, plan.Children)
	assert.Empty(t, plan.Events)
	assert.Equal(t, v1alpha1.StateTerminating, s.flow.Status.State)
	assert.Equal(t, "Terminating", condition(s.flow, "Ready").Reason)
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
