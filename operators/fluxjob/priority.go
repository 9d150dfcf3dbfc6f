package fluxjob

import (
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
)

// priorityQueue returns the queue in which the job's priority counts: the one whose quota it holds, else the one that it waits in. Nil: it
// doesn't exist.
func (p *pass) priorityQueue(o *observed) *v1alpha1.FluxSetup {
	if p.job.Status.Admission != nil {
		return o.admittedBy
	}
	return o.queue
}

// effectivePriority returns the priority that counts in the queue: the job's or the queue's, and at most the limit of the namespace. Nil:
// there is no queue.
func (p *pass) effectivePriority(o *observed) *int32 {
	queue := p.priorityQueue(o)
	if queue == nil {
		return nil
	}
	priority := needs.PrioritiesOf(queue).Of(p.job, needs.LabelsOf(o.namespace))
	return &priority
}

// setPriority records the effective priority, and in a condition that it is less than spec.priority.
func (p *pass) setPriority(s *v1alpha1.FluxJobStatus, o *observed) {
	s.Priority = o.priority
	asked := p.job.Spec.Priority
	if asked == nil || s.Priority == nil || *asked <= *s.Priority {
		p.conditions(s).Remove(v1alpha1.ConditionPriorityLimited)
		return
	}
	p.conditions(s).Set(v1alpha1.ConditionPriorityLimited, true, v1alpha1.ReasonPriorityLimited,
		fmt.Sprintf("spec.priority is %d, and FluxSetup %q lets jobs of namespace %q have at most %d, which counts instead",
			*asked, p.priorityQueue(o).Name, p.job.Namespace, *s.Priority))
}
