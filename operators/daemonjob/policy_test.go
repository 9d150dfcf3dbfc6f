package daemonjob

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// oneByOne is a roll-out that stops after so many failures, by a policy.
func oneByOne(policy v1alpha1.FailurePolicy, maxFailures *intstr.IntOrString) func(*spec) {
	return func(s *spec) {
		s.Parallelism = new(intstr.FromInt32(1))
		s.FailurePolicy = policy
		s.MaxFailures = maxFailures
	}
}

func TestFailFastStopsWhatRuns(t *testing.T) {
	w := worldOf(4, makeJob(func(s *spec) {
		s.FailurePolicy = v1alpha1.FailureFailFast
		s.Parallelism = new(intstr.FromInt32(3))
	}))
	w.pass()
	w.complete("n3")
	w.fail("n1")
	w.pass()
	assert.Equal(t, "Failed 1/4 failed=2 skipped=1", w.counts(), "n2 is stopped, n4 never started")
	assert.Equal(t, "n1 n2 n3", w.started())
	assert.Equal(t, "n[1-2]", w.status().FailedNodes)
	assert.Equal(t, "FailFast", w.ready().Reason)
	assert.Contains(t, w.ready().Message, "stopped by failurePolicy FailFast, when 1 of 4 nodes succeeded, 1 failed, 1 running, 1 to come: n1 failed: ")
	assert.Equal(t, metav1.ConditionTrue, w.condition("Failed").Status)
	assert.Equal(t, "JobFailed Failed", w.reasons())
	assert.Empty(t, w.deleted, "the end is recorded first")
	w.pass()
	assert.Equal(t, []string{"demo-n2"}, w.deleted)
	assert.Zero(t, w.pass())
}

func TestAJobThatWasMissedIsStoppedLater(t *testing.T) {
	w := worldOf(2, makeJob(func(s *spec) { s.FailurePolicy = v1alpha1.FailureFailFast }))
	w.pass()
	missed := w.jobs["demo-n2"]
	delete(w.jobs, "demo-n2")
	w.fail("n1")
	w.pass()
	w.jobs["demo-n2"] = missed
	w.pass()
	assert.Equal(t, []string{"demo-n2"}, w.deleted)
}

func TestMaxFailures(t *testing.T) {
	tests := map[string]struct {
		max  *intstr.IntOrString
		runs string // on these nodes, all of which fail
	}{
		"one by default":          {nil, "n1"},
		"a number":                {new(intstr.FromInt32(3)), "n1 n2 n3"},
		"a percentage rounded up": {new(intstr.FromString("30%")), "n1 n2"},
		"more than there are":     {new(intstr.FromInt32(9)), "n1 n2 n3 n4 n5"},
	}
	for name, tt := range tests {
		for _, policy := range []v1alpha1.FailurePolicy{v1alpha1.FailureFailFast, v1alpha1.FailurePause} {
			t.Run(name+" "+string(policy), func(t *testing.T) {
				w := worldOf(5, makeJob(oneByOne(policy, tt.max)))
				for range 10 {
					w.pass()
					w.fail(w.running()...)
				}
				assert.Equal(t, tt.runs, w.started())
				if tt.runs == "n1 n2 n3 n4 n5" || policy == v1alpha1.FailureFailFast {
					assert.Equal(t, v1alpha1.StateFailed, w.status().State)
				} else {
					assert.Equal(t, "Paused", w.ready().Reason)
					assert.Equal(t, v1alpha1.StatePaused, w.status().State)
				}
			})
		}
	}
}

func TestPauseIsKeptUntilARetry(t *testing.T) {
	w := worldOf(4, makeJob(func(s *spec) {
		s.FailurePolicy = v1alpha1.FailurePause
		s.Parallelism = new(intstr.FromInt32(2))
	}))
	w.pass()
	w.fail("n1")
	w.pass()
	assert.Equal(t, "n1 n2", w.started())
	assert.Equal(t, "Paused 0/4 active=1 failed=1", w.counts())
	assert.Equal(t, "JobFailed Paused", w.reasons())
	assert.True(t, w.status().Paused)
	assert.Empty(t, w.condition("Stalled"), "n2 is still running")
	assert.Contains(t, w.ready().Message, "to run the failed nodes again and go on, set retry to 1; to go on without them, set failurePolicy to Continue")

	w.complete("n2")
	w.pass()
	assert.Equal(t, metav1.ConditionTrue, w.condition("Stalled").Status)
	delete(w.nodes, "n1")
	w.pass()
	w.pass()
	assert.True(t, w.status().Paused, "even if what failed is gone")
	assert.Empty(t, w.started())
	w.nodes["n1"] = makeNode("n1")

	w.edit(func(s *spec) { s.Suspend = true })
	w.pass()
	w.edit(func(s *spec) { s.Suspend = false })
	w.pass()
	assert.True(t, w.status().Paused, "suspending doesn't lift it")
	assert.Empty(t, w.started())

	w.edit(func(s *spec) { s.Retry = 1 })
	w.pass()
	assert.False(t, w.status().Paused)
	assert.Equal(t, "n1 n3", w.started())
	assert.Equal(t, "Retried", w.reasons())
	assert.Empty(t, w.condition("Stalled"))
	w.complete("n1", "n3")
	w.pass()
	w.complete("n4")
	w.pass()
	assert.Equal(t, "Succeed 4/4", w.counts())
}

func TestPauseIsLiftedByContinue(t *testing.T) {
	w := worldOf(2, makeJob(oneByOne(v1alpha1.FailurePause, nil)))
	w.pass()
	w.fail("n1")
	w.pass()
	w.edit(func(s *spec) { s.FailurePolicy = v1alpha1.FailureContinue })
	w.pass()
	assert.Equal(t, "n1 n2", w.started())
	assert.Empty(t, w.condition("Stalled"))
	w.complete("n2")
	w.pass()
	assert.Equal(t, "Failed 1/2 failed=1", w.counts())
}

func TestARetryRunsAgainWhatFailed(t *testing.T) {
	w := worldOf(4, makeJob(func(s *spec) {
		s.FailurePolicy = v1alpha1.FailureFailFast
		s.Parallelism = new(intstr.FromInt32(3))
	}))
	w.pass()
	w.complete("n1")
	w.fail("n2")
	w.pass()
	w.pass()
	assert.Equal(t, "Failed 1/4 failed=2 skipped=1", w.counts())
	w.started()

	w.edit(func(s *spec) { s.Template.Spec.Containers[0].Image = "mended" })
	w.pass()
	assert.Equal(t, "ChangeIgnored", w.reasons())
	assert.Contains(t, w.told[0].Note, "set retry to 1 to run what failed, and what never ran, with it")

	w.deleted = nil
	w.edit(func(s *spec) { s.Retry = 1 })
	w.pass()
	assert.Equal(t, "Retried", w.reasons())
	assert.Equal(t, []string{"demo-n2"}, w.deleted, "the Job that failed")
	assert.Equal(t, "n3 n4", w.started(), "n2's name is still taken")
	assert.Empty(t, w.condition("Failed"))
	assert.Nil(t, w.status().CompletionTime)
	assert.Equal(t, "Running 1/4 active=1", w.counts())
	w.pass()
	assert.Equal(t, "n2", w.started())
	assert.Equal(t, "mended", w.jobs["demo-n2"].Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, "1", w.jobs["demo-n2"].Annotations[AnnotationRetry])

	w.complete("n2", "n3", "n4")
	w.pass()
	assert.Equal(t, "Succeed 4/4", w.counts())
	w.edit(func(s *spec) { s.Retry = 2 })
	w.pass()
	assert.Equal(t, "ChangeIgnored", w.reasons(), "nothing failed")
	assert.Equal(t, v1alpha1.StateSucceed, w.status().State)
}

func TestARetryFailsAnewIfItFails(t *testing.T) {
	w := worldOf(2, makeJob())
	w.pass()
	w.fail("n1")
	w.pass()
	w.edit(func(s *spec) { s.Retry = 1 })
	w.pass()
	w.pass()
	w.fail("n2") // started before the retry: it gets one too
	w.pass()
	w.pass()
	assert.Equal(t, "n1 n2 n1 n2", w.started())
	w.fail("n1", "n2")
	w.pass()
	assert.Equal(t, "Failed 0/2 failed=2", w.counts())
	w.pass()
	assert.Empty(t, w.started())
}

func TestSuspend(t *testing.T) {
	w := worldOf(3, makeJob(func(s *spec) {
		s.Parallelism = new(intstr.FromInt32(2))
		s.ActiveDeadlineSeconds = ptr.To[int64](100)
	}))
	w.pass()
	w.complete("n1")
	w.edit(func(s *spec) { s.Suspend = true })
	plan := w.pass()
	assert.Len(t, plan.Edits, 1)
	assert.Equal(t, new(true), w.jobs["demo-n2"].Spec.Suspend)
	assert.Nil(t, w.jobs["demo-n1"].Spec.Suspend, "it has ended")
	assert.Equal(t, "n1 n2", w.started())
	assert.Equal(t, "Suspended", w.reasons())
	assert.Equal(t, metav1.ConditionTrue, w.condition("Suspended").Status)
	assert.Equal(t, "Suspended", w.ready().Reason)
	assert.Equal(t, "the job is suspended: 1 of 3 nodes succeeded, 1 running, 1 to come", w.ready().Message)
	assert.Nil(t, w.status().ActiveSince)
	assert.Equal(t, v1alpha1.StateSuspended, w.status().State)
	w.pass()
	assert.Equal(t, "the job is suspended: 1 of 3 nodes succeeded, 1 suspended, 1 to come", w.ready().Message)

	w.seconds += 1000
	assert.Zero(t, w.pass(), "the deadline doesn't run")
	w.edit(func(s *spec) { s.Suspend = false })
	plan = w.pass()
	assert.Len(t, plan.Edits, 1)
	assert.Equal(t, new(false), w.jobs["demo-n2"].Spec.Suspend)
	assert.Equal(t, "n3", w.started())
	assert.Equal(t, "Resumed", w.reasons())
	assert.Equal(t, 101*time.Second, plan.RequeueAfter, "the deadline begins anew")
	assert.Equal(t, metav1.ConditionTrue, w.condition("Suspended").Status, "until all run again")
	w.pass()
	assert.Equal(t, metav1.ConditionFalse, w.condition("Suspended").Status)
	w.complete("n2", "n3")
	w.pass()
	assert.Equal(t, "Succeed 3/3", w.counts())
}

func TestSuspendedFromTheStart(t *testing.T) {
	w := worldOf(1, makeJob(func(s *spec) { s.Suspend = true }))
	w.pass()
	assert.Equal(t, "Suspended 0/1", w.counts())
	assert.Nil(t, w.status().StartTime)
	assert.Equal(t, "Suspended", w.reasons())
	w.edit(func(s *spec) { s.Suspend = false })
	w.pass()
	assert.Equal(t, "Started", w.reasons())
	assert.Equal(t, "n1", w.started())
}

// Another controller, such as a queue, may hold single Jobs back.
func TestAJobThatOthersSuspendedIsLeftAlone(t *testing.T) {
	w := worldOf(1, makeJob())
	w.pass()
	w.jobs["demo-n1"] = w.jobs["demo-n1"].DeepCopy()
	w.jobs["demo-n1"].Spec.Suspend = new(true)
	assert.Empty(t, w.pass().Edits)
	assert.Equal(t, "Running 0/1 suspended=1", w.counts())
}

func TestDeadline(t *testing.T) {
	w := worldOf(4, makeJob(func(s *spec) {
		s.ActiveDeadlineSeconds = ptr.To[int64](60)
		s.Parallelism = new(intstr.FromInt32(2))
	}))
	plan := w.pass()
	assert.Equal(t, 61*time.Second, plan.RequeueAfter)
	plan = w.pass()
	assert.Equal(t, 60*time.Second, plan.RequeueAfter)
	w.complete("n1")
	w.pass()
	w.seconds += 1000 // the operator was down
	plan = w.pass()
	assert.Equal(t, "Failed 1/4 failed=2 skipped=1", w.counts())
	assert.Equal(t, time.Millisecond, plan.RequeueAfter)
	assert.Equal(t, "DeadlineExceeded", w.ready().Reason)
	assert.Equal(t, "activeDeadlineSeconds (60) have passed; when they had, 1 of 4 nodes succeeded, 2 running, 1 to come", w.ready().Message)
	assert.Equal(t, "Failed", w.reasons())
	plan = w.pass()
	assert.Equal(t, []string{"demo-n2", "demo-n3"}, w.deleted)
	assert.Zero(t, plan.RequeueAfter)
}

func TestWhatIsDoneBeforeItIsLookedAtIsDone(t *testing.T) {
	w := worldOf(1, makeJob(func(s *spec) { s.ActiveDeadlineSeconds = ptr.To[int64](60) }))
	w.pass()
	w.complete("n1")
	w.seconds += 1000
	w.pass()
	assert.Equal(t, "Succeed 1/1", w.counts())
}

// time.Duration holds 292 years, and a deadline past them was taken for one that had passed long ago.
func TestADeadlineInCenturiesEndsNothing(t *testing.T) {
	for _, seconds := range []int64{9_223_372_037, 9_999_999_999, math.MaxInt64} {
		w := worldOf(2, makeJob(func(s *spec) { s.ActiveDeadlineSeconds = &seconds }))
		w.pass()
		plan := w.pass()
		assert.Equal(t, "Running 0/2 active=2", w.counts(), seconds)
		assert.Empty(t, w.deleted)
		assert.Positive(t, plan.RequeueAfter)
	}
}

func TestTTL(t *testing.T) {
	w := worldOf(1, makeJob(func(s *spec) { s.TTLSecondsAfterFinished = ptr.To[int32](60) }))
	w.pass()
	w.complete("n1")
	plan := w.pass()
	assert.False(t, w.gone)
	assert.Equal(t, 60*time.Second, plan.RequeueAfter)
	plan = w.pass()
	assert.Equal(t, 59*time.Second, plan.RequeueAfter)
	assert.False(t, w.gone)
	w.seconds += 60
	w.pass()
	assert.True(t, w.gone)
}

func TestATTLOfZero(t *testing.T) {
	w := worldOf(1, makeJob(func(s *spec) { s.TTLSecondsAfterFinished = ptr.To[int32](0) }))
	w.pass()
	w.complete("n1")
	plan := w.pass()
	assert.False(t, w.gone, "the end is recorded first, so that it can be seen")
	assert.Equal(t, time.Second, plan.RequeueAfter)
	w.pass()
	assert.True(t, w.gone)
}

func TestInvalidSpecs(t *testing.T) {
	w := worldOf(1, makeJob(func(s *spec) { s.ExcludeNodeList = "n1;n2" }))
	w.pass()
	assert.Empty(t, w.started())
	assert.Equal(t, v1alpha1.StateFailed, w.status().State)
	assert.Equal(t, "InvalidSpec", w.reasons())
	for _, kind := range []string{events.ConditionReady, events.ConditionStalled, v1alpha1.ConditionFailed} {
		assert.Equal(t, "InvalidSpec", w.condition(kind).Reason)
		assert.Contains(t, w.condition(kind).Message, `spec.excludeNodeList: Invalid value: "n1;n2": not the name of a node: `)
	}
	assert.Zero(t, w.pass(), "told once")
	w.edit(func(s *spec) { s.ExcludeNodeList = "n2" })
	w.pass()
	assert.Equal(t, "n1", w.started())
	assert.Equal(t, "Pending 0/1", w.counts())
	assert.Empty(t, w.condition(v1alpha1.ConditionFailed))
	assert.Empty(t, w.condition(events.ConditionStalled))
}

func TestASpecThatBecomesInvalidStartsNothingMore(t *testing.T) {
	w := worldOf(2, makeJob(oneByOne("", nil)))
	w.pass()
	w.edit(func(s *spec) { s.GlobalParams.Labels = map[string]string{"a b": "c"} })
	w.pass()
	w.complete("n1")
	w.pass()
	w.pass()
	assert.Equal(t, "n1", w.started())
	assert.Equal(t, "Running 1/2", w.counts(), "what runs is recorded")
	assert.Equal(t, "InvalidSpec", w.ready().Reason)
	w.edit(func(s *spec) { s.GlobalParams.Labels = nil })
	w.pass()
	assert.Equal(t, "n2", w.started())
}

func TestSuspendOrResumeLeavesTerminatingJobsAlone(t *testing.T) {
	terminating := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "demo-n1", DeletionTimestamp: new(at(1))}}
	p := &pass{job: makeJob(func(s *spec) { s.Suspend = true })}
	assert.Empty(t, p.suspendOrResume(&observed{running: []run{{"n1", terminating}}}))
}
