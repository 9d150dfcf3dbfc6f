package replicajob

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// verdict is what is to become of a whole job.
type verdict struct {
	kind            verdictKind
	reason, message string
	// at is when what decided happened. Nil: it isn't known better than now.
	at *metav1.Time
	// culprit is the failure that decided, if one did.
	culprit *failure
	// left is how long it takes until the job may restart.
	left time.Duration
}

type verdictKind int

const (
	goesOn verdictKind = iota
	hasSucceeded
	hasFailed
	restartsAll
)

// judge decides what is to become of the job. Success comes before any failure, and failures are looked at in the order
// of ranks, so the verdict follows from what is there, and not from the order in which it is seen. What happened in time
// counts also if it is only seen after the deadline.
func (j *job) judge(r *roster, y jury, failures []failure) verdict {
	deadline := lifecycle.Deadline(j.was.StartTime, j.spec.RunPolicy.ActiveDeadlineSeconds, j.now.Time)
	inTime := func(at *metav1.Time) bool { return !deadline.Due || at != nil && !at.After(j.deadline()) }

	if yes, at := y.hasSucceeded(); yes && inTime(at) {
		return verdict{kind: hasSucceeded, reason: v1alpha1.ReasonSucceeded, message: j.successMessage(r), at: at}
	}
	for i := range failures {
		f := &failures[i]
		if f.action == v1alpha1.FailureFail && inTime(f.how.Ended) {
			return f.fails()
		}
	}
	if deadline.Due {
		at := metav1.NewTime(j.deadline())
		return verdict{kind: hasFailed, reason: v1alpha1.ReasonDeadlineExceeded, at: &at,
			message: fmt.Sprintf("the job ran longer than runPolicy.activeDeadlineSeconds, %d", *j.spec.RunPolicy.ActiveDeadlineSeconds)}
	}
	for i := range failures {
		if f := &failures[i]; f.restartsJob() {
			return j.restartJob(f)
		}
	}
	return j.judgeRestarts(r, wantRestart(failures))
}

func (j *job) deadline() time.Time {
	return lifecycle.End(*j.was.StartTime, *j.spec.RunPolicy.ActiveDeadlineSeconds)
}

// fails is the verdict of a failure that fails the job.
func (f *failure) fails() verdict {
	v := verdict{kind: hasFailed, reason: v1alpha1.ReasonReplicaFailed, at: f.how.Ended, culprit: f}
	if f.rule != "" {
		v.reason = v1alpha1.ReasonFailureRule
		v.message = fmt.Sprintf("%s; failurePolicy rule %q says Fail", f, f.rule)
		return v
	}
	v.message = fmt.Sprintf("%s; its restartPolicy is %s", f, f.team.restartPolicy())
	return v
}

// restartJob is the verdict of a failure that restarts the job, if that is still allowed.
func (j *job) restartJob(f *failure) verdict {
	limit := j.spec.FailurePolicy.MaxRestarts // there is a policy: one of its rules decided
	if f.action == v1alpha1.FailureRestartJob && limit != nil && j.was.RestartsTowardsMax >= *limit {
		return verdict{kind: hasFailed, reason: v1alpha1.ReasonMaxRestartsExceeded, at: f.how.Ended, culprit: f,
			message: fmt.Sprintf("%s; failurePolicy rule %q says %s, and failurePolicy.maxRestarts is %d", f, f.rule, f.action, *limit)}
	}
	return verdict{kind: restartsAll, reason: v1alpha1.ReasonJobRestarting, culprit: f, left: f.left(j.was.Restarts, j.now.Time),
		message: fmt.Sprintf("%s; failurePolicy rule %q says %s: restart %d of the whole job", f, f.rule, f.action, j.was.Restarts+1)}
}

// judgeRestarts fails the job if it has had, or needs, more restarts of replicas than it may have.
func (j *job) judgeRestarts(r *roster, wanted []*failure) verdict {
	limit := j.spec.RunPolicy.BackoffLimit
	had := r.restarts()
	if limit == nil || had+int32(len(wanted)) <= *limit {
		return verdict{kind: goesOn}
	}
	v := verdict{kind: hasFailed, reason: v1alpha1.ReasonBackoffLimitExceeded}
	v.message = fmt.Sprintf("replicas were restarted %s; runPolicy.backoffLimit is %d", times(had), *limit)
	if len(wanted) > 0 {
		v.culprit, v.at = wanted[0], wanted[0].how.Ended
		v.message = fmt.Sprintf("%s; %s", v.culprit, v.message)
	}
	return v
}

func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// successMessage says who has succeeded.
func (j *job) successMessage(r *roster) string {
	y := j.jury(r)
	switch {
	case y.onlyZero:
		return y.teams[0].replica(0) + " succeeded"
	case y.anyone:
		for _, t := range y.teams {
			for i := range t.slots {
				if t.slots[i].state == succeeded {
					return t.replica(i) + " succeeded"
				}
			}
		}
	}
	return "succeeded: " + list(y.teams, func(t *team) string { return fmt.Sprintf("%d %s", len(t.slots), t.name) })
}
