package diagnose

import (
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/wellknown"
)

// queueAdvice is the next step for each reason of a waiting FluxJob.
var queueAdvice = map[string]string{
	v1alpha1.ReasonQueueNotFound: "create the FluxSetup, or set spec.queue: kubectl get fluxsetups",
	v1alpha1.ReasonQueueInvalid:  "correct the FluxSetup's spec: kubectl describe fluxsetup",
	v1alpha1.ReasonQueueStopped:  "set spec.stopPolicy of the FluxSetup to None",
	v1alpha1.ReasonQueueManagedElsewhere: "set spec.queue to a queue of its own manager; if the other manager no longer runs, " +
		"this one takes over the queue within minutes, and the queue's events report it: kubectl describe fluxsetup",
	v1alpha1.ReasonNamespaceNotAllowed:  "use another queue, or label the namespace as the FluxSetup's namespaceSelector requires",
	v1alpha1.ReasonExceedsMaximumQuota:  "request less, or raise the FluxSetup's quota: otherwise the job waits forever",
	v1alpha1.ReasonWaitingForQuota:      "wait until other jobs have ended; armature queue shows which jobs use the quota",
	v1alpha1.ReasonReservationsFull:     "wait until other jobs have ended, or divide the FluxSetup into several of one cohort",
	v1alpha1.ReasonBlockedByHeadOfQueue: "wait for the job before it; armature queue shows the queue",
	v1alpha1.ReasonPreempting:           "wait until the pods of the preempted jobs have terminated; armature queue shows them",
	v1alpha1.ReasonBackoff:              "find out why its pods weren't ready in time; it returns to the queue automatically",
	v1alpha1.ReasonQueued:               "wait for its turn; armature queue shows the queue",
}

// isNormal are the reasons of a FluxJob that waits in its queue without a problem.
var isNormal = map[string]bool{
	v1alpha1.ReasonQueued: true, v1alpha1.ReasonWaitingForQuota: true,
	v1alpha1.ReasonBlockedByHeadOfQueue: true, v1alpha1.ReasonPreempting: true, v1alpha1.ReasonReservationsFull: true,
}

// unqueued: a FluxJob waits for its share of the quota.
func unqueued(s subject) *Finding {
	waits := s.isTrue(v1alpha1.ConditionJobWaitingForResources)
	if !s.is("FluxJob") || waits == nil || s.GetLabels()[kueueQueue] != "" {
		return nil
	}
	advice, known := queueAdvice[waits.Reason]
	if !known {
		return nil
	}
	if isNormal[waits.Reason] && s.Queue != nil && wellknown.IsPaused(s.Queue.Annotations) {
		return blocked("QueuePaused", "it waits in the queue: FluxSetup %q is paused, and admits no job", s.Queue.Name).
			do("armature unpause fluxsetup/%s", s.Queue.Name)
	}
	message := "it waits in the queue"
	if place := s.number("status", "position"); place > 0 {
		message += fmt.Sprintf(" at position %d", place)
	}
	message += ": " + waits.Message
	if limited := s.isTrue(v1alpha1.ConditionPriorityLimited); limited != nil {
		message += "; " + limited.Message
	}
	if waits.Reason == v1alpha1.ReasonWaitingForQuota && s.Queue != nil && len(s.Queue.Status.Reservations) > 0 {
		r := s.Queue.Status.Reservations[0]
		message += fmt.Sprintf("; %s/%s has reserved quota", r.Namespace, r.Name)
		if more := len(s.Queue.Status.Reservations) - 1; more > 0 {
			message += fmt.Sprintf(", and so have %d more", more)
		}
	}
	if isNormal[waits.Reason] {
		return waitsFor(waits.Reason, "%s", message).do("%s", advice)
	}
	return blocked(waits.Reason, "%s", message).do("%s", advice)
}
