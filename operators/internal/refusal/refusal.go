package refusal

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

const (
	// grace is how long a Job may be without pods before the events are listed: the Job controller and caches take their time.
	grace = 5 * time.Second
	// maxDelay is the maximum of the time between two lists for a Job that stays without pods.
	maxDelay = 5 * time.Minute
)

// reasons is the result of the function of External: why Jobs have no pods, by their UIDs.
type reasons map[types.UID]string

// Refusals has the reasons why an owner's Jobs have no pods.
type Refusals struct {
	reasons      reasons
	now          time.Time
	requeueAfter time.Duration
}

// Of returns what the function of [External] has found for a plan.
func Of(view builder.View) *Refusals {
	found, _ := builder.External[reasons](view)
	return &Refusals{reasons: found, now: view.Now}
}

// Reason returns why the pods of a Job are refused, in the API server's words. It is empty if the Job has pods, has ended or is
// suspended, and if the reason is unknown.
func (r *Refusals) Reason(job *batchv1.Job) string {
	if !lacksPods(job) {
		return ""
	}
	r.requeueAfter = lifecycle.Soonest(r.requeueAfter, untilNextList(job, r.now))
	return r.reasons[job.UID]
}

// RequeueAfter returns the time until the events are listed again for the Jobs that Reason was called with; 0 if all of them have pods.
func (r *Refusals) RequeueAfter() time.Duration { return r.requeueAfter }

// lacksPods reports whether a Job has started, and has never had a pod since. A condition that is True says that the Job is ending or
// that the Job controller hasn't resumed it yet; a resumed Job keeps the condition Suspended, as False.
func lacksPods(job *batchv1.Job) bool {
	s := &job.Status
	isTrue := func(c batchv1.JobCondition) bool { return c.Status == corev1.ConditionTrue }
	return s.StartTime != nil && s.CompletionTime == nil && job.DeletionTimestamp == nil && !ptr.Deref(job.Spec.Suspend, false) &&
		ptr.Deref(job.Spec.Parallelism, 1) > 0 && s.Active+s.Succeeded+s.Failed+ptr.Deref(s.Terminating, 0) == 0 &&
		!slices.ContainsFunc(s.Conditions, isTrue)
}

// isDue reports whether a Job has been without pods for so long that the events are listed.
func isDue(job *batchv1.Job, now time.Time) bool {
	return lacksPods(job) && now.Sub(job.Status.StartTime.Time) >= grace
}

// untilNextList returns the time until the next list for a Job without pods: 5, 10, 20 seconds and so on after its start.
func untilNextList(job *batchv1.Job, now time.Time) time.Duration {
	age, at := now.Sub(job.Status.StartTime.Time), grace
	for at <= age {
		at += min(at, maxDelay)
	}
	return at - age
}
