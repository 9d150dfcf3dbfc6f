package jobflow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestTerminate(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("c", "b"))}
	s.flow.Spec.Finally = []v1alpha1.Flow{node("last")}
	s.step()
	s.step(completeJob("a"), runningJob("b"))
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Terminate = true })
	b := runningJob("b")
	plan := s.step(completeJob("a"), b)
	assert.Empty(t, plan.Delete, "it is put on record first")
	assert.Zero(t, plan.StatusCanWait)
	assert.Equal(t, stepDelay, plan.RequeueAfter)
	assert.Equal(t, []string{"Terminated", "JobFailed"}, reasons(plan.Events))
	assert.Equal(t, map[string]v1alpha1.FlowState{"a": "Succeed", "b": "Failed", "c": "Skipped", "last": "Pending"}, states(s.flow))
	assert.Equal(t, "stopped: spec.terminate is true", detailOf(s.flow, "b").Message)

	plan = s.step(completeJob("a"), b)
	assert.Equal(t, []client.Object{b}, plan.Delete)
	assert.Empty(t, plan.Children)
	assert.Empty(t, s.step(completeJob("a"), deletingJob(b)).Delete)
	plan = s.step(completeJob("a"))
	assert.Equal(t, []string{"demo-last"}, started(plan), "once b is gone")
	plan = s.step(completeJob("a"), completeJob("last"))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	for _, kind := range []string{"Ready", "Stalled", "Failed"} {
		assert.Equal(t, "Terminated", condition(s.flow, kind).Reason, kind)
	}
	assert.Equal(t, []string{"Failed"}, reasons(plan.Events))

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 1 })
	assert.Equal(t, []string{"ChangeIgnored"}, reasons(s.step().Events), "it is still to be terminated")
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Terminate = false })
	assert.Equal(t, []string{"demo-b-r1"}, started(s.step()))
}

func TestTerminateBeforeAnythingStarted(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.flow.Spec.Terminate = true
	plan := s.step()
	assert.Empty(t, plan.Children)
	assert.Equal(t, v1alpha1.StateFailed, stateAfter(s, 0), "nothing failed, but what was wanted wasn't done either")
	failed := meta.FindStatusCondition(s.flow.Status.Conditions, v1alpha1.ConditionFailed)
	require.NotNil(t, failed)
	assert.Equal(t, v1alpha1.ReasonTerminated, failed.Reason)
	s.flow.Spec.Terminate, s.flow.Spec.Retry = false, 1
	s.step()
	assert.NotEmpty(t, s.step().Children, "a retry runs what never ran")
}

// stateAfter returns the flow's state after some more passes that see nothing.
func stateAfter(s *stepper, passes int) v1alpha1.State {
	for range passes {
		s.step()
	}
	return s.flow.Status.State
}

func TestDeadline(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"))}
	s.flow.Spec.ActiveDeadlineSeconds = ptr.To[int64](25)
	assert.Equal(t, 26*time.Second, s.step().RequeueAfter) // at 10
	assert.Equal(t, 16*time.Second, s.step(runningJob("a")).RequeueAfter)
	s.seconds = 100 // the controller was down
	plan := s.step(runningJob("a"))
	assert.Equal(t, []string{"DeadlineExceeded", "JobFailed"}, reasons(plan.Events))
	assert.Equal(t, v1alpha1.StateRunning, s.flow.Status.State)
	s.step(runningJob("a"))
	s.step()
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.Equal(t, "DeadlineExceeded", condition(s.flow, "Failed").Reason)
	assert.Equal(t, "the flow was active for longer than 25 s (spec.activeDeadlineSeconds)", condition(s.flow, "Failed").Message)
	assert.Equal(t, v1alpha1.FlowSkipped, states(s.flow)["b"])
}

// time.Duration holds 292 years, and a deadline past them was taken for one that had passed long ago.
func TestADeadlineInCenturiesEndsNothing(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.flow.Spec.ActiveDeadlineSeconds = ptr.To[int64](9_999_999_999)
	s.step()
	plan := s.step(runningJob("a"))
	assert.Positive(t, plan.RequeueAfter)
	assert.Equal(t, v1alpha1.FlowRunning, states(s.flow)["a"])
	assert.Empty(t, condition(s.flow, "Stopped"))
}

func TestSuspend(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"))}
	s.flow.Spec.Suspend = true
	s.flow.Spec.ActiveDeadlineSeconds = ptr.To[int64](100)
	plan := s.step()
	assert.Empty(t, plan.Children)
	assert.Nil(t, s.flow.Status.StartTime)
	assert.Equal(t, v1alpha1.StateSuspended, s.flow.Status.State)
	assert.Equal(t, "Suspended", condition(s.flow, "Ready").Reason)
	assert.Equal(t, metav1.ConditionTrue, condition(s.flow, "Suspended").Status)
	assert.Equal(t, []string{"Suspended"}, reasons(plan.Events))

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Suspend = false })
	plan = s.step()
	assert.Equal(t, []string{"demo-a"}, started(plan))
	assert.Equal(t, []string{"Started", "Resumed"}, reasons(plan.Events))
	assert.Equal(t, metav1.ConditionFalse, condition(s.flow, "Suspended").Status)

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Suspend = true })
	a := runningJob("a")
	plan = s.step(a)
	require.Len(t, plan.Edits, 1)
	suspended := plan.Edits[0].After.(*batchv1.Job)
	assert.Equal(t, new(true), suspended.Spec.Suspend)
	assert.Nil(t, a.Spec.Suspend)
	assert.Empty(t, s.step(suspended).Edits)
	assert.Empty(t, started(s.step(completeJob("a"))), "b waits")
	assert.Zero(t, s.step(completeJob("a")).RequeueAfter, "no deadline")

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Suspend = false })
	plan = s.step(suspended, completeJob("a"))
	assert.Equal(t, 101*time.Second, plan.RequeueAfter, "it starts anew")
	assert.Equal(t, []string{"demo-b"}, started(plan))
}

func TestResumeOnlyWhatTheFlowSuspended(t *testing.T) {
	s := &stepper{flow: makeFlow(node("ours"), node("theirs"))}
	s.step()
	ours, theirs := runningJob("ours"), runningJob("theirs")
	ours.Spec.Suspend, theirs.Spec.Suspend = new(true), new(true)
	annotate(ours, AnnotationSuspended, "true")
	plan := s.step(ours, theirs)
	require.Len(t, plan.Edits, 1)
	resumed := plan.Edits[0].After.(*batchv1.Job)
	assert.Equal(t, "demo-ours", resumed.Name)
	assert.Equal(t, new(false), resumed.Spec.Suspend)
	assert.NotContains(t, resumed.Annotations, AnnotationSuspended)
}

func TestRetry(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("c", "b"))}
	s.flow.Spec.Finally = []v1alpha1.Flow{node("last")}
	s.step()
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 1 })
	assert.Empty(t, started(s.step(runningJob("a"), failedJob("b"))), "it takes its turn when the flow has failed")
	s.step(completeJob("a"), failedJob("b"))
	plan := s.step(completeJob("a"), failedJob("b"), completeJob("last"))
	assert.Equal(t, []string{"Failed"}, reasons(plan.Events))

	old := []client.Object{completeJob("a"), failedJob("b"), completeJob("last")}
	before := s.flow
	for range 2 { // the second time as if the status hadn't been written
		s.flow = before
		plan = s.step(old...)
		assert.Equal(t, []string{"demo-b-r1"}, started(plan))
		assert.Equal(t, "1", plan.Children[0].Object().GetLabels()[LabelRetry])
	}
	assert.Equal(t, []string{"Retried"}, reasons(plan.Events))
	assert.Equal(t, "retry 1 runs what failed or never ran; 2 flows had succeeded", plan.Events[0].Note)
	assert.Nil(t, s.flow.Status.CompletionTime)
	for _, kind := range []string{"Failed", "Stalled"} {
		assert.Empty(t, condition(s.flow, kind), kind)
	}
	assert.Equal(t, map[string]v1alpha1.FlowState{"a": "Succeed", "b": "Pending", "c": "Pending", "last": "Pending"}, states(s.flow))

	s.step(append(old, retried(runningJob("b")))...)
	assert.EqualValues(t, 2, detailOf(s.flow, "b").Attempts)
	assert.Equal(t, []string{"demo-c-r1"}, started(s.step(append(old, retried(completeJob("b")))...)))
	s.step(append(old, retried(completeJob("c")))...)
	s.step(append(old, retried(completeJob("last")))...)
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
	assert.EqualValues(t, 1, detailOf(s.flow, "c").Attempts)
	assert.EqualValues(t, 1, s.flow.Status.Retry)

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 2 })
	plan = s.step(old...)
	assert.Empty(t, plan.Children, "it has succeeded")
	assert.Equal(t, []string{"ChangeIgnored"}, reasons(plan.Events))
}

func TestRetryWithAMendedSpec(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"), node("gone", "a"))}
	s.step()
	s.step(completeJob("a"))
	s.step(completeJob("a"), failedJob("b"), failedJob("gone"))
	require.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	s.edit(func(f *v1alpha1.JobFlow) {
		b := node("b", "a", "new")
		b.JobTemplate.Template.Spec.Containers[0].Image = "busybox:mended"
		f.Spec.Flows = []v1alpha1.Flow{node("new"), b, node("a")}
		f.Spec.Retry = 1
	})
	assert.Equal(t, []string{"demo-new-r1"}, started(s.step()), "a has succeeded")
	plan := s.step(retried(completeJob("new")))
	assert.Equal(t, []string{"demo-b-r1"}, started(plan))
	assert.Equal(t, "busybox:mended", plan.Children[0].Object().(*batchv1.Job).Spec.Template.Spec.Containers[0].Image)
	s.step(retried(completeJob("b")))
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State, "what was taken out and failed is forgotten")
	assert.Equal(t, "3/3", s.flow.Status.Progress)
}

func TestJobRetention(t *testing.T) {
	for retention, want := range map[v1alpha1.JobRetention][]string{
		"": nil, v1alpha1.RetainAll: nil, v1alpha1.RetainFailed: {"demo-a"}, v1alpha1.RetainNone: {"demo-a", "demo-b"},
	} {
		s := &stepper{flow: makeFlow(node("a"), node("b"))}
		s.flow.Spec.JobRetention = retention
		s.step()
		assert.Empty(t, s.step(completeJob("a"), failedJob("b")).Delete, "their ends are being recorded in this pass")
		var names []string
		for _, job := range s.step(completeJob("a"), failedJob("b")).Delete {
			names = append(names, job.GetName())
		}
		assert.Equal(t, want, names, retention)
	}
}

func TestTheFlowsOwnTTL(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.flow.Spec.TTLSecondsAfterFinished = ptr.To[int32](60)
	s.step()
	s.step(completeJob("a"))
	s.flow.Status.CompletionTime = new(at(20))
	plan := s.step(completeJob("a")) // at 30
	assert.Equal(t, 51*time.Second, plan.RequeueAfter)
	assert.False(t, plan.DeleteOwner)
	s.seconds = 1000
	assert.True(t, s.step(completeJob("a")).DeleteOwner)
}

// The status that says that a flow has ended causes no pass by itself.
func TestTheEndIsFollowedByWhatComesNext(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*v1alpha1.JobFlowSpec)
		want   time.Duration
	}{
		"nothing":   {func(s *v1alpha1.JobFlowSpec) {}, 0},
		"a retry":   {func(s *v1alpha1.JobFlowSpec) { s.Retry = 1 }, stepDelay},
		"retention": {func(s *v1alpha1.JobFlowSpec) { s.JobRetention = v1alpha1.RetainNone }, stepDelay},
		"a TTL":     {func(s *v1alpha1.JobFlowSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](27) }, 18 * time.Second},
		"at once":   {func(s *v1alpha1.JobFlowSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](0) }, stepDelay},
	} {
		s := &stepper{flow: makeFlow(node("a"))}
		tt.change(&s.flow.Spec)
		s.step()
		assert.Equal(t, tt.want, s.step(failedJob("a")).RequeueAfter, name)
	}
}
