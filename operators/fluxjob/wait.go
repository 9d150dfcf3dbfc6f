package fluxjob

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
)

const (
	// exact is up to which position a change is written at once.
	exact = 10
	// placeDelay is how long it may take beyond.
	placeDelay = 5 * time.Second
	// farDelay is how often a job looks for its position that is so far behind that no one tells it.
	farDelay = time.Minute
	// farthestDelay is how often it does behind 1000 others.
	farthestDelay = 10 * time.Minute
)

// wait says why the job waits, and where in the line.
func (p *step) wait() {
	reason, message := p.obstacle()
	if reason != "" {
		p.status.Position = nil
		p.waiting(reason, message)
		return
	}
	p.status.Position = needs.Position(p.job, *p.status.Priority, p.queue)
	reason, message = p.placeReason()
	p.waiting(reason, message)
	switch position := p.status.Position; {
	case position == nil || *position <= v1alpha1.MaxFluxQueueEntries: // the queue tells when that changes
	case *position <= 10*v1alpha1.MaxFluxQueueEntries:
		p.again(farDelay)
	default:
		p.again(farthestDelay)
	}
}

// obstacle is what keeps the job from being in the line at all, empty if nothing does.
func (p *step) obstacle() (reason, message string) {
	name := needs.Queue(p.job)
	if p.queue == nil {
		return v1alpha1.ReasonQueueNotFound, fmt.Sprintf(
			"there is no FluxSetup %q: create it, or set spec.queue to the name of one that exists", name)
	}
	if message := p.managedElsewhere(); message != "" {
		return v1alpha1.ReasonQueueManagedElsewhere, message
	}
	spec := &p.queue.Spec
	if invalid := meta.FindStatusCondition(p.queue.Status.Conditions, events.ConditionReady); invalid != nil &&
		invalid.Reason == v1alpha1.ReasonInvalidSpec {
		return v1alpha1.ReasonQueueInvalid, fmt.Sprintf("FluxSetup %q admits no one, because its spec is invalid", name)
	}
	if p.namespace != nil && !needs.Selects(spec.NamespaceSelector)(p.namespace.Labels) {
		return v1alpha1.ReasonNamespaceNotAllowed, fmt.Sprintf(
			"FluxSetup %q isn't for namespace %q: its namespaceSelector doesn't match the namespace's labels", name, p.job.Namespace)
	}
	if message := p.tooLarge(); message != "" {
		return v1alpha1.ReasonExceedsMaximumQuota, message
	}
	switch spec.StopPolicy {
	case v1alpha1.StopHold, v1alpha1.StopHoldAndDrain:
		return v1alpha1.ReasonQueueStopped, fmt.Sprintf("FluxSetup %q has stopPolicy %s", name, spec.StopPolicy)
	}
	return "", ""
}

// managedElsewhere says which other manager has the queue and keeps it, empty if none does. As long as that one runs and has jobs in
// the queue, this job isn't admitted.
func (p *step) managedElsewhere() string {
	if !p.manager.IsRefused(p.queue) {
		return ""
	}
	by := p.queue.Status.Manager
	return fmt.Sprintf("FluxSetup %q is managed by %s, which watches %s, and not by %s, the manager of this job; "+
		"set spec.queue to a queue of its own, or let one manager watch the namespaces of all jobs of the queue",
		p.queue.Name, by.Name, admission.Namespaces(by.Namespaces), p.manager.String())
}

// tooLarge says why the job could not run even if nothing else did.
func (p *step) tooLarge() string {
	size := p.status.Size
	if limit := p.queue.Spec.MiniCluster.MaxSize; limit != nil && needs.Most(p.job, size) > *limit {
		return fmt.Sprintf("the size is %d, and FluxSetup %q admits at most miniCluster.maxSize, %d",
			needs.Most(p.job, size), p.queue.Name, *limit)
	}
	for i := range p.queue.Status.Usage {
		r := &p.queue.Status.Usage[i]
		if n := p.amount(r.Name); n > needs.Scaled(corev1.ResourceName(r.Name), r.Maximum) {
			return fmt.Sprintf("it needs %s, and FluxSetup %q can give at most %s to one job",
				much(r.Name, n), p.queue.Name, r.Maximum.String())
		}
	}
	return ""
}

// amount is how much the job needs of what a quota names.
func (p *step) amount(name string) int64 { return needs.Counted(p.job, p.status.Size, name) }

// much renders an amount of what a quota names: 1 pod, 2 pods, 500m cpu.
func much(name string, amount int64) string {
	if name == needs.NumberOfPods && amount == 1 {
		return "1 pod"
	}
	q := needs.Quantity(corev1.ResourceName(name), amount)
	return q.String() + " " + name
}

// placeReason says why the job waits in the line, as far as the line tells.
func (p *step) placeReason() (reason, message string) {
	name := p.queue.Name
	if t := p.job.Status.RequeueTime; t != nil && p.now.Before(t) {
		return v1alpha1.ReasonBackoff, fmt.Sprintf("the pods weren't ready in time; it returns to the queue at %s", t.UTC().Format(time.RFC3339))
	}
	for i := range p.queue.Status.Queue {
		place := &p.queue.Status.Queue[i]
		if place.Name != p.job.Name || place.Namespace != p.job.Namespace {
			continue
		}
		switch place.Reason {
		case v1alpha1.ReasonWaitingForQuota:
			return place.Reason, fmt.Sprintf("it needs %s, and queue %q has less to give now",
				much(place.Resource, p.amount(place.Resource)), name)
		case v1alpha1.ReasonPreempting:
			return place.Reason, fmt.Sprintf("queue %q admits it when the pods of preempted jobs have terminated", name)
		case v1alpha1.ReasonBlockedByHeadOfQueue:
			return place.Reason, fmt.Sprintf("queue %q is StrictFIFO, and a job before this one has to wait", name)
		}
	}
	return v1alpha1.ReasonQueued, fmt.Sprintf("it waits for its turn in queue %q", name)
}

// onlyPlaceChanged reports whether there is nothing new but where the job stands in the line, and why.
func (p *step) onlyPlaceChanged() bool {
	before := p.job.Status
	if before.Position == nil || p.status.Position == nil || *p.status.Position <= exact {
		return false
	}
	before.Position, before.Conditions = p.status.Position, p.status.Conditions
	return before.State == v1alpha1.FluxJobWaiting && sameStatus(&before, p.status)
}
