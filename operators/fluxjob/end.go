package fluxjob

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// end is how a job ended.
type end struct {
	succeeded bool
	exitCode  *int32
	time      metav1.Time
}

// endOf ends a job as its MiniCluster ended.
func (p *pass) endOf(o *observed, held *v1alpha1.FluxAdmission) decision {
	c := o.cluster
	d := p.failed(o, held, "", "")
	d.end.exitCode = c.Status.ExitCode
	if c.Status.CompletionTime != nil {
		d.end.time = *c.Status.CompletionTime
	}
	failed := lifecycle.Condition(c.Status.Conditions, v1alpha1.ConditionFailed)
	switch {
	case failed.Status != metav1.ConditionTrue:
		d.end.succeeded, d.reason, d.message = true, v1alpha1.ReasonSucceeded, "the command succeeded"
	case c.Status.ExitCode != nil:
		d.reason, d.message = failed.Reason, fmt.Sprintf("exit code %d: %s", *c.Status.ExitCode, failed.Message)
	default:
		d.reason, d.message = failed.Reason, failed.Message
	}
	return d
}

// failed ends a job now. It gives its quota back as soon as its pods are gone; planEnded does so if they aren't yet.
func (p *pass) failed(o *observed, held *v1alpha1.FluxAdmission, reason, message string) decision {
	d := decision{action: actionEnd, end: end{time: p.now}, admission: held, reason: reason, message: message, records: true}
	if o.podsGone() {
		d.admission = nil
	}
	return d
}

// planTerminating returns the plan of a job that is being deleted. Garbage collection deletes its MiniCluster. A finalizer may keep the job
// for long, so it declines what its queue reserved for it, and gives its quota back once its pods are gone.
func (p *pass) planTerminating(o *observed) builder.Plan[*v1alpha1.FluxJob] {
	s := p.job.Status.DeepCopy()
	s.State, s.Position = v1alpha1.FluxJobTerminating, nil
	switch {
	case s.Admission == nil && o.offer != nil:
		s.Attempts++
	case o.podsGone():
		s.Admission = nil
	}
	conditions := p.conditions(s)
	conditions.Set(v1alpha1.ConditionJobRequested, false, v1alpha1.ReasonTerminating, "the FluxJob is being deleted")
	conditions.Terminate("FluxJob")
	conditions.Remove(events.ConditionStalled, v1alpha1.ReasonInvalidSpec)
	return p.withStatus(builder.Plan[*v1alpha1.FluxJob]{}, s)
}

// planEnded returns the plan of a job that has ended: it gives its quota back once its pods are gone. After that cleanupPolicy deletes
// the MiniCluster, and the job is deleted once ttlSecondsAfterFinished have passed.
func (p *pass) planEnded(o *observed) builder.Plan[*v1alpha1.FluxJob] {
	s := p.job.Status.DeepCopy()
	p.conditions(s).Conclude()
	var plan builder.Plan[*v1alpha1.FluxJob]
	if s.ObservedGeneration != p.job.Generation && s.ObservedGeneration != 0 {
		plan.Events = []events.Event{lifecycle.ChangeIgnored("job", s.State,
			"ttlSecondsAfterFinished and cleanupPolicy still take effect; create a new FluxJob to run it")}
	}
	if s.Admission != nil {
		suspend(&plan, o) // a MiniCluster that has no end of its own
		if o.podsGone() {
			s.Admission, plan.RequeueAfter = nil, lifecycle.Soon
		}
		return p.withStatus(plan, s)
	}
	if p.job.Spec.CleanupPolicy == v1alpha1.CleanupMiniCluster && o.cluster != nil && o.cluster.DeletionTimestamp == nil {
		plan.Delete = append(plan.Delete, o.cluster)
	}
	ttl := lifecycle.Expiry(s.CompletionTime, s.Conditions, p.job.Spec.TTLSecondsAfterFinished, p.now.Time)
	plan.DeleteOwner, plan.RequeueAfter = ttl.Due, ttl.Left
	return p.withStatus(plan, s)
}
