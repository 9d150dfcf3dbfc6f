package diagnose

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// schedulingGated: scheduling gates keep the pod from being scheduled.
func schedulingGated(s subject) *Finding {
	if s.pod == nil || len(s.pod.Spec.SchedulingGates) == 0 {
		return nil
	}
	var gates []string
	for _, g := range s.pod.Spec.SchedulingGates {
		gates = append(gates, g.Name)
	}
	return blocked("SchedulingGated", "its scheduling gates keep it from being scheduled: %s", strings.Join(gates, ", ")).
		do("check that the controller that removes the gates runs, for example of a queue or a quota")
}

// unscheduled: the scheduler has found no node for the pod.
func unscheduled(s subject) *Finding {
	if s.pod == nil || s.pod.Spec.NodeName != "" || s.pod.Status.Phase != corev1.PodPending {
		return nil
	}
	if found := s.claimOf(s.pod); found != nil && (found.Reason == "ClaimMissing" || !s.isNew(s.Object)) {
		return found
	}
	c := s.isFalse(string(corev1.PodScheduled))
	if c == nil || c.Reason == corev1.PodReasonSchedulingGated {
		return nil
	}
	if s.Nodes != nil {
		if found := s.noNodeFits(s.pod); found != nil {
			return found
		}
	}
	return blocked("Unschedulable", "the scheduler found no node: %s", c.Message).do("free capacity, or request less: kubectl describe nodes")
}

// unscheduledYet: no scheduler has processed the pod.
func unscheduledYet(s subject) *Finding {
	if s.pod == nil || s.pod.Spec.NodeName != "" || s.pod.Status.Phase != corev1.PodPending || s.isNew(s.Object) ||
		s.condition(string(corev1.PodScheduled)) != nil {
		return nil
	}
	return blocked("NoScheduler", "no scheduler has processed it: its schedulerName is %s", s.pod.Spec.SchedulerName).
		do("check that a scheduler of that name runs")
}
