package minicluster

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// decision is how a cluster continues.
type decision struct {
	action  action
	invalid string // why the spec is invalid; empty: it is valid

	failure      failure                           // actionRestart, actionFail: why the start came to nothing
	failedWorker *v1alpha1.MiniClusterFailedWorker // the last worker that failed or was lost
	stopsLeader  bool                              // actionRun: the leader failed or was lost, so everything is stopped
	givesUp      string                            // actionRun: why the work will never begin; empty: it may
}

type action int

const (
	actionWithhold    action = iota // an invalid spec doesn't start
	actionWithdraw                  // a suspended cluster has no Job
	actionStart                     // the Job is created, once everything that its pods need exists
	actionAwait                     // nothing is created until a terminating Job is gone, or the spec is valid
	actionAwaitPods                 // nothing is created until the pods of a deleted Job have ended
	actionReplace                   // the Job of the former start is deleted, once its pods have stopped
	actionAwaitResume               // the Job is suspended, until it can be resumed
	actionSuspend                   // the running Job is suspended
	actionRun                       // the Job runs
	actionRestart                   // another start is recorded
	actionSucceed                   // the end is recorded
	actionFail                      // the end is recorded
)

func (d decision) ends() bool { return d.action == actionSucceed || d.action == actionFail }

// decide returns how a cluster continues. The first rule that applies counts. A cluster whose spec is invalid doesn't start; one that
// has started continues as it was started, until it ends, is suspended, or its deadline comes, and doesn't start again.
func (p *pass) decide(o *observed) decision {
	d := decision{failedWorker: p.c.Status.FailedWorker.DeepCopy()}
	if problems := validate(p.c); len(problems) > 0 {
		d.invalid = message.List(problems, (*field.Error).Error)
	}
	job := o.job
	switch {
	case d.invalid != "" && p.c.Status.StartTime == nil:
		d.action = actionWithhold
	case p.c.Spec.Suspend && (job == nil || p.isQueued(o)):
		d.action = actionWithdraw
	case job == nil && p.c.Status.Leader != nil: // there was one
		return p.restartOrFail(d, lost(p.c))
	case job == nil && p.deadline().Due: // it came while no Job was there to see it
		d.action, d.failure = actionFail, deadlineExceeded(p.c)
	case job == nil && d.invalid == "" && len(o.leftover) > 0: // no two pods ever have the same name in DNS
		d.action = actionAwaitPods
	case job == nil && d.invalid == "":
		d.action = actionStart
	case job == nil || job.DeletionTimestamp != nil: // a Job of this name can be created once it is gone
		d.action = actionAwait
	case attempt(job) < p.c.Status.Restarts:
		d.action = actionReplace
	case outcome.Of(job).Phase == outcome.Succeeded:
		d.action = actionSucceed
	case outcome.Of(job).Phase == outcome.Failed && isSuspended(job): // its pods were stopped, and ended with codes of their own
		d.action = actionAwaitResume
	case outcome.Of(job).Phase == outcome.Failed && o.lagsBehindJob():
		d.action = actionRun // until the cache shows how the leader ended
	case outcome.Of(job).Phase == outcome.Failed:
		if o.leaderEnd(p.c) != nil {
			d.failedWorker = p.lastFailedWorker(p.failedWorkers(o, p.c.Status.StartTime))
		}
		return p.restartOrFail(d, p.blame(failureOf(p.c, o), o, d.failedWorker))
	case isSuspended(job):
		d.action = actionAwaitResume
	case p.c.Spec.Suspend:
		d.action = actionSuspend
	default:
		return p.decideRun(o, d)
	}
	return d
}

// decideRun returns how a cluster continues whose Job runs.
func (p *pass) decideRun(o *observed, d decision) decision {
	d.action, d.stopsLeader = actionRun, o.isLeaderLost(p.c)
	if outcome.Condition(o.job, batchv1.JobSuccessCriteriaMet) == nil && (!d.stopsLeader || o.leaderEnd(p.c) != nil) {
		failed := p.failedWorkers(o, p.startTime(o))
		d.failedWorker = p.lastFailedWorker(failed)
		if !d.stopsLeader {
			d.givesUp = p.infeasible(o, failed)
		}
	}
	return d
}

// restartOrFail starts the cluster again after a failure, if backoffLimit allows it. Only once that is recorded is the former Job
// deleted: whatever happens in between, each start is counted once.
func (p *pass) restartOrFail(d decision, f failure) decision {
	d.action, d.failure = actionFail, f
	if p.mayRestart(f, d) {
		d.action = actionRestart
	}
	return d
}

// mayRestart reports whether the cluster starts again after a failure.
func (p *pass) mayRestart(f failure, d decision) bool {
	return d.invalid == "" && !f.final && p.c.Status.Restarts < ptr.Deref(p.c.Spec.BackoffLimit, 0)
}

// startTime returns when the cluster started: as recorded, or, if that isn't recorded yet, when its Job did.
func (p *pass) startTime(o *observed) *metav1.Time {
	if p.c.Status.StartTime != nil {
		return p.c.Status.StartTime.DeepCopy()
	}
	// Until the Job controller observes that a Job is resumed, startTime is that of the former run: before Kubernetes 1.36 a suspension
	// doesn't remove it.
	if o.job != nil && outcome.Condition(o.job, batchv1.JobSuspended) == nil &&
		o.job.Status.StartTime != nil && o.job.Status.StartTime.Before(&p.now) {
		return o.job.Status.StartTime.DeepCopy() // Kueue let it start
	}
	return p.now.DeepCopy()
}
