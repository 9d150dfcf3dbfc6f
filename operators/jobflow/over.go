package jobflow

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// over is the plan of a flow that has ended: nothing runs any more, whatever becomes of its Jobs and its spec. What is
// left to do is to clean up.
func (p *pass) over(status *v1alpha1.JobFlowStatus) builder.Plan[*v1alpha1.JobFlow] {
	expiry := lifecycle.Expiry(status.CompletionTime, p.spec.TTLSecondsAfterFinished, p.seen.Now)
	if expiry.Due {
		return builder.Plan[*v1alpha1.JobFlow]{DeleteOwner: true}
	}
	lifecycle.ConditionsOf(&status.Conditions, p.flow.Generation, p.now).Conclude()
	p.wakeIn(expiry.Left)
	p.findJobs()
	changed := p.flow.Status.ObservedGeneration != p.flow.Generation
	if changed {
		p.Record.Write(status)
	}
	plan := p.planOf(status)
	if plan.Delete = p.unretained(); plan.Delete == nil {
		plan.Delete = p.expired()
	}
	plan.RequeueAfter = p.again
	if changed {
		plan.Events = []events.Event{p.changeIgnored()}
	}
	return plan
}

// unretained returns the Jobs that aren't kept when a flow has ended. Those that have succeeded by their pods' account
// only are given the time to say so themselves.
func (p *pass) unretained() []client.Object {
	if p.spec.JobRetention == "" || p.spec.JobRetention == v1alpha1.RetainAll {
		return nil
	}
	var jobs []client.Object
	p.eachJob(func(job *batchv1.Job) {
		o := outcome.Of(job)
		keep := o.Phase == outcome.Running || (o.Phase == outcome.Failed && p.spec.JobRetention == v1alpha1.RetainFailed)
		if !keep && job.DeletionTimestamp == nil {
			jobs = append(jobs, job)
		}
	})
	return jobs
}

// changeIgnored returns the event of an edit of the spec after the end.
func (p *pass) changeIgnored() events.Event {
	const still = "ttlSecondsAfterFinished and jobRetention still have one"
	next := still + "; create a new JobFlow to run it"
	switch state := p.flow.Status.State; {
	case state == v1alpha1.StateFailed && p.spec.Retry > p.flow.Status.Retry:
		next = "spec.terminate must be false for a retry"
	case state == v1alpha1.StateFailed:
		next = fmt.Sprintf("%s; set retry to %d to run what failed, and what never ran, with it", still, p.flow.Status.Retry+1)
	}
	return lifecycle.ChangeIgnored("flow", p.flow.Status.State, next)
}
