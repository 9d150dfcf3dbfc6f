package refusal

import (
	"regexp"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

const (
	// grace is how long a Job may be without pods before someone asks why: the Job controller and caches take their time.
	grace = 5 * time.Second
	// longest is how long it takes at most until the next look at a Job that stays without pods.
	longest = 5 * time.Minute
)

// known is the result of the function of External: why Jobs have no pods, by their UIDs.
type known map[types.UID]string

// Refusals are what is known about an owner's Jobs.
type Refusals struct {
	known known
	now   time.Time
	again time.Duration
}

// Of returns what the function of [External] has found out for a plan.
func Of(seen builder.View) *Refusals {
	found, _ := builder.External[known](seen)
	return &Refusals{known: found, now: seen.Now}
}

// Why returns why the pods of a Job are refused, in the API server's words; empty if it has pods, has ended, is suspended, or if
// nothing is known.
func (r *Refusals) Why(job *batchv1.Job) string {
	if !lacksPods(job) {
		return ""
	}
	r.again = lifecycle.Soonest(r.again, nextLook(job, r.now))
	return r.known[job.UID]
}

// Again returns when to look again at the Jobs that Why was asked about, 0 if none of them is without pods.
func (r *Refusals) Again() time.Duration { return r.again }

// lacksPods reports whether a Job has started, and has never had a pod since.
func lacksPods(job *batchv1.Job) bool {
	s := &job.Status
	return s.StartTime != nil && s.CompletionTime == nil && job.DeletionTimestamp == nil && !ptr.Deref(job.Spec.Suspend, false) &&
		ptr.Deref(job.Spec.Parallelism, 1) > 0 && s.Active+s.Succeeded+s.Failed+ptr.Deref(s.Terminating, 0) == 0 && len(s.Conditions) == 0
}

// isDue reports whether a Job has been without pods for so long that the reason is asked for.
func isDue(job *batchv1.Job, now time.Time) bool {
	return lacksPods(job) && now.Sub(job.Status.StartTime.Time) >= grace
}

// nextLook is how long it takes until the next look at a Job without pods: after 5, 10, 20 seconds and so on since its start.
func nextLook(job *batchv1.Job, now time.Time) time.Duration {
	age, at := now.Sub(job.Status.StartTime.Time), grace
	for at <= age {
		at += min(at, longest)
	}
	return at - age
}

// attempt is what an event says of one attempt to make a pod: its name is another each time.
var attempt = regexp.MustCompile(`^Error creating: (pods "[^"]*" is forbidden: )?`)

// words returns what an event says of the refusal, the same for each attempt.
func words(note string) string { return attempt.ReplaceAllString(note, "") }
