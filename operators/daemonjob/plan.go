package daemonjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// Plan decides which nodes get their Job now, and what the status is. It is a [builder.PlanFunc].
//
// The plan's children are only the Jobs to create. It has no Prune, so the builder leaves all other Jobs as they are, unless they are in
// Edits or Delete.
func Plan(job *v1alpha1.DaemonJob, view builder.View) builder.Plan[*v1alpha1.DaemonJob] {
	p := &pass{job: job, last: lastStatus(job), now: metav1.NewTime(view.Now).Rfc3339Copy()}
	switch {
	case !lifecycle.IsOurs(job.Spec.ManagedBy):
		return builder.Plan[*v1alpha1.DaemonJob]{}
	case job.DeletionTimestamp != nil:
		return p.planTerminating()
	case endedUnderFormerOperator(&job.Status):
		return p.planTakeover()
	case p.last.CompletionTime != nil:
		return p.planEnded(builder.Owned[*batchv1.Job](view))
	}

	o := p.observe(view)
	d := p.decide(o)
	if d.ends() {
		o.stopRunning()
	}
	status := p.status(o, d)
	plan := builder.Plan[*v1alpha1.DaemonJob]{
		Edits: p.suspendOrResume(o), Delete: append(o.stale, p.withdrawnJobs(o, d)...), Events: p.events(o, d, status),
		RequeueAfter: lifecycle.Soonest(o.requeueAfter, p.nextTimer(status)),
	}
	if d.starts {
		plan.Children = p.start(o)
	}
	return p.withStatus(plan, status)
}

// pass is the input of one call of Plan; its methods are the steps.
type pass struct {
	job  *v1alpha1.DaemonJob
	last v1alpha1.DaemonJobStatus // the recorded status, without what a retry resets; steps must not change it
	now  metav1.Time              // to the second, as the API keeps it
}

// withStatus adds a status to a plan, if it differs from the recorded one.
func (p *pass) withStatus(
	plan builder.Plan[*v1alpha1.DaemonJob], status v1alpha1.DaemonJobStatus,
) builder.Plan[*v1alpha1.DaemonJob] {
	last := &p.job.Status
	status.ObservedGeneration = p.job.Generation
	change := func() *v1alpha1.DaemonJob {
		changed := *p.job
		changed.Status = status
		return &changed
	}
	return lifecycle.WithStatus(plan, last, &status, change, statusDelay, func() bool {
		return last.State == status.State && last.Retry == status.Retry && !lifecycle.IsTransition(last.Conditions, status.Conditions)
	})
}

// nextTimer returns the time until the deadline, or until the TTL of a job that has ended expires. 0: it has neither.
func (p *pass) nextTimer(status v1alpha1.DaemonJobStatus) time.Duration {
	if status.CompletionTime == nil {
		return lifecycle.Deadline(status.ActiveSince, p.job.Spec.ActiveDeadlineSeconds, p.now.Time).Left
	}
	ttl := lifecycle.Expiry(status.CompletionTime, status.Conditions, p.job.Spec.TTLSecondsAfterFinished, p.now.Time)
	if ttl.Due {
		return lifecycle.Later // the end must be recorded first
	}
	return ttl.Left
}
