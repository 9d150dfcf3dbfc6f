package fluxjob

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

const (
	// exactPositions are the positions of which a change is written at once.
	exactPositions = 10
	// statusDelay is how long a status may wait to be written that differs only in a position behind these.
	statusDelay = 5 * time.Second
	// farDelay is how often a job reads its position that is behind the entries of the queue's status.
	farDelay = time.Minute
	// farthestDelay is how often it does behind 1000 others.
	farthestDelay = 10 * time.Minute
)

// wait returns the decision of a job that waits for admission: why, and at which position of the queue.
func (p *pass) wait(o *observed) decision {
	reason, message := p.blocker(o)
	if reason != "" {
		return decision{action: actionWait, reason: reason, message: message}
	}
	reason, message = p.waitsFor(o.queue)
	return decision{action: actionWait, reason: reason, message: message, position: needs.Position(p.job, *o.priority, o.queue)}
}

// positionDelay returns the time until a job reads its position again; 0 if a change of the queue's entries announces a new one.
func positionDelay(position *int32) time.Duration {
	switch {
	case position == nil || *position <= v1alpha1.MaxFluxQueueEntries:
		return 0
	case *position <= 10*v1alpha1.MaxFluxQueueEntries:
		return farDelay
	default:
		return farthestDelay
	}
}

// blocker returns what keeps the job out of the queue, empty if nothing does.
func (p *pass) blocker(o *observed) (reason, message string) {
	name := needs.Queue(p.job)
	if o.queue == nil {
		return v1alpha1.ReasonQueueNotFound, fmt.Sprintf(
			"there is no FluxSetup %q: create it, or set spec.queue to the name of one that exists", name)
	}
	if message := p.managedElsewhere(o.queue); message != "" {
		return v1alpha1.ReasonQueueManagedElsewhere, message
	}
	spec := &o.queue.Spec
	if lifecycle.Condition(o.queue.Status.Conditions, events.ConditionReady).Reason == v1alpha1.ReasonInvalidSpec {
		return v1alpha1.ReasonQueueInvalid, fmt.Sprintf("FluxSetup %q admits no one, because its spec is invalid", name)
	}
	if o.namespace != nil && !needs.Selects(spec.NamespaceSelector)(needs.LabelsOf(o.namespace)) {
		return v1alpha1.ReasonNamespaceNotAllowed, fmt.Sprintf(
			"FluxSetup %q isn't for namespace %q: its namespaceSelector doesn't match the namespace's labels", name, p.job.Namespace)
	}
	if message := p.tooLarge(o.queue); message != "" {
		return v1alpha1.ReasonExceedsMaximumQuota, message
	}
	switch spec.StopPolicy {
	case v1alpha1.StopHold, v1alpha1.StopHoldAndDrain:
		return v1alpha1.ReasonQueueStopped, fmt.Sprintf("FluxSetup %q has stopPolicy %s", name, spec.StopPolicy)
	}
	return "", ""
}

// managedElsewhere says which other manager manages the queue and keeps it, empty if none does. As long as that manager runs and has jobs
// in the queue, this job isn't admitted.
func (p *pass) managedElsewhere(queue *v1alpha1.FluxSetup) string {
	if !p.manager.IsRefused(queue) {
		return ""
	}
	by := queue.Status.Manager
	return fmt.Sprintf("FluxSetup %q is managed by %s, which watches %s, and not by %s, the manager of this job; "+
		"set spec.queue to a queue of its own, or let one manager watch the namespaces of all jobs of the queue",
		queue.Name, by.Name, admission.Namespaces(by.Namespaces), p.manager.String())
}

// tooLarge says why the job couldn't run even in an empty queue, empty if it could.
func (p *pass) tooLarge(queue *v1alpha1.FluxSetup) string {
	most := needs.Most(p.job, needs.Size(p.job, queue))
	if limit := queue.Spec.MiniCluster.MaxSize; limit != nil && most > *limit {
		return fmt.Sprintf("the size is %d, and FluxSetup %q admits at most miniCluster.maxSize, %d", most, queue.Name, *limit)
	}
	for i := range queue.Status.Usage {
		r := &queue.Status.Usage[i]
		if n := p.amount(queue, r.Name); n > needs.Scaled(corev1.ResourceName(r.Name), r.Maximum) {
			return fmt.Sprintf("it requests %s; the quota of FluxSetup %q allows at most %s for one job",
				amountOf(r.Name, n), queue.Name, r.Maximum.String())
		}
	}
	return ""
}

// amount returns how much the job needs of something that a quota counts.
func (p *pass) amount(queue *v1alpha1.FluxSetup, name string) int64 {
	return needs.Counted(p.job, needs.Size(p.job, queue), name)
}

// amountOf renders an amount of something that a quota counts: 1 MiniCluster, 2 pods, 500m cpu.
func amountOf(name string, amount int64) string {
	switch name {
	case needs.MiniClusters:
		return message.Count(int(amount), "MiniCluster")
	case needs.NumberOfPods:
		return message.Count(int(amount), "pod")
	}
	q := needs.Quantity(corev1.ResourceName(name), amount)
	return q.String() + " " + name
}

// waitsFor returns why the job waits in the queue, as far as the entries of the queue's status tell.
func (p *pass) waitsFor(queue *v1alpha1.FluxSetup) (reason, message string) {
	if t := p.job.Status.RequeueTime; t != nil && p.now.Before(t) {
		return v1alpha1.ReasonBackoff, fmt.Sprintf("the pods weren't ready in time; it returns to the queue at %s", t.UTC().Format(time.RFC3339))
	}
	for i := range queue.Status.Queue {
		entry := &queue.Status.Queue[i]
		if entry.Name != p.job.Name || entry.Namespace != p.job.Namespace {
			continue
		}
		switch entry.Reason {
		case v1alpha1.ReasonWaitingForQuota:
			return entry.Reason, fmt.Sprintf("it requests %s; the free quota of queue %q is smaller",
				amountOf(entry.Resource, p.amount(queue, entry.Resource)), queue.Name)
		case v1alpha1.ReasonReservationsFull:
			return entry.Reason, fmt.Sprintf("the status of FluxSetup %q can't record its reservation beside those of the admitted jobs", queue.Name)
		case v1alpha1.ReasonPreempting:
			return entry.Reason, fmt.Sprintf("queue %q admits it when the pods of preempted jobs have terminated", queue.Name)
		case v1alpha1.ReasonBlockedByHeadOfQueue:
			return entry.Reason, fmt.Sprintf("queue %q is StrictFIFO, and a job before this one has to wait", queue.Name)
		}
	}
	return v1alpha1.ReasonQueued, fmt.Sprintf("it waits for its turn in queue %q", queue.Name)
}

// onlyPositionChanged reports whether a waiting job has only another position, behind exactPositions, and other reasons to wait. The
// reasons aren't a transition here: with each admission those of a hundred jobs change.
func onlyPositionChanged(last, s *v1alpha1.FluxJobStatus) bool {
	if last.State != v1alpha1.FluxJobWaiting || last.Position == nil || s.Position == nil || *s.Position <= exactPositions {
		return false
	}
	before := *last
	before.Position, before.Conditions = s.Position, s.Conditions
	return equality.Semantic.DeepEqual(&before, s)
}
