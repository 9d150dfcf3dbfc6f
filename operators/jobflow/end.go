package jobflow

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// planTerminating returns the plan of a flow that is being deleted. Garbage collection deletes its Jobs.
func planTerminating(flow *v1alpha1.JobFlow, view builder.View) builder.Plan[*v1alpha1.JobFlow] {
	p := &pass{flow: flow, now: metav1.NewTime(view.Now).Rfc3339Copy()}
	status := copyOf(&flow.Status)
	status.State = v1alpha1.StateTerminating
	p.conditions(status).Terminate("JobFlow")
	return p.planStatus(status)
}

// planEnded returns the plan of a flow whose end is recorded: it creates no Job, deletes those that aren't retained, and deletes the
// JobFlow once ttlSecondsAfterFinished have passed.
func (p *pass) planEnded() builder.Plan[*v1alpha1.JobFlow] {
	status := copyOf(&p.last)
	expiry := lifecycle.Expiry(status.CompletionTime, p.spec.TTLSecondsAfterFinished, p.view.Now)
	if expiry.Due {
		return builder.Plan[*v1alpha1.JobFlow]{DeleteOwner: true}
	}
	p.conditions(status).Conclude()
	p.requeueIn(expiry.Left)
	p.findJobs()
	isEdited := p.flow.Status.ObservedGeneration != p.flow.Generation
	if isEdited {
		p.Record.Write(status) // by the indexes of the edited spec
	}
	plan := p.planStatus(status)
	if plan.Delete = p.unretainedJobs(); plan.Delete == nil {
		plan.Delete = p.expiredJobs()
	}
	plan.RequeueAfter = p.requeueAfter
	if isEdited {
		plan.Events = []events.Event{p.changeIgnored()}
	}
	return plan
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
