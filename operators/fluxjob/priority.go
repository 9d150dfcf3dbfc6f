package fluxjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
)

// rank notes which priority counts in the queue, that of the job's share or else the one it waits in, and whether that is less
// than the job asks for.
func (p *step) rank() {
	setup := p.queue
	if p.job.Status.Admission != nil {
		setup = p.lender
	}
	p.status.Priority = nil
	if setup == nil {
		meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionPriorityLimited)
		return
	}
	var labels map[string]string
	if p.namespace != nil {
		labels = p.namespace.Labels
	}
	priority := needs.PrioritiesOf(setup).Of(p.job, labels)
	p.status.Priority = &priority
	if asked := p.job.Spec.Priority; asked == nil || *asked <= priority {
		meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionPriorityLimited)
		return
	}
	meta.SetStatusCondition(&p.status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionPriorityLimited, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPriorityLimited,
		Message: fmt.Sprintf("spec.priority is %d, and FluxSetup %q lets jobs of namespace %q have at most %d, which counts instead",
			*p.job.Spec.Priority, setup.Name, p.job.Namespace, priority),
		ObservedGeneration: p.job.Generation, LastTransitionTime: p.now,
	})
}

// limited returns an event if the priority is limited, and wasn't in the same way before.
func (p *step) limited() []events.Event {
	after := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionPriorityLimited)
	before := meta.FindStatusCondition(p.job.Status.Conditions, v1alpha1.ConditionPriorityLimited)
	if after == nil || before != nil && before.Message == after.Message {
		return nil
	}
	return []events.Event{events.Warning(after.Reason, after.Message)}
}
