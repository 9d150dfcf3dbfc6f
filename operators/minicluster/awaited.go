package minicluster

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// overdue is how long after its grace period a pod may report its end. After that its node is probably lost, and the pod never ends.
const overdue = time.Minute

// awaited returns the pod for whose end a cluster waits that runs no longer: the leader from the moment that it is being stopped, or, once
// the leader has ended, a pod that is overdue. If no pod is overdue yet, it returns the time until one may be.
func (p *pass) awaited(s *v1alpha1.MiniClusterStatus, o *observed, isEnding bool) (*corev1.Pod, time.Duration) {
	if !p.isLeaderKnown(s, o) {
		return nil, 0
	}
	if pod := o.leader(); pod != nil && pod.UID == p.c.Status.Leader.UID && isTerminating(pod) {
		return pod, 0
	}
	if !isEnding {
		return nil, 0
	}
	var soonest time.Duration
	for _, pod := range o.pods {
		if !isTerminating(pod) {
			continue
		}
		left := pod.DeletionTimestamp.Add(overdue).Sub(p.now.Time)
		if left <= 0 {
			return pod, 0
		}
		soonest = lifecycle.Soonest(soonest, left)
	}
	return nil, soonest
}

// isTerminating reports whether a pod is being stopped, and hasn't ended.
func isTerminating(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && !outcome.HasEnded(pod)
}

// setAwaiting sets the conditions of a cluster that waits for the end of a pod. The state stays as it was, because it never goes back.
func (p *pass) setAwaiting(s *v1alpha1.MiniClusterStatus, o *observed, d decision, pod *corev1.Pod) {
	text := fmt.Sprintf("waits for pod %s to end", pod.Name)
	target := outcome.Condition(o.job, batchv1.JobFailureTarget)
	switch why := o.job.Annotations[annotationFailure]; {
	case why != "":
		text = why + "; " + text
	case target != nil && target.Reason == batchv1.JobReasonDeadlineExceeded:
		text = deadlineExceeded(p.c).message + "; " + text
	}
	conditions := p.conditions(s)
	conditions.Set(v1alpha1.MiniClusterPodsReady, false, v1alpha1.ReasonPodsNotReady, readyPods(s.ReadyPods, size(p.c)))
	if !p.c.Spec.Flux.Disable {
		conditions.Set(v1alpha1.MiniClusterBrokerReady, false, v1alpha1.ReasonPodsTerminating, text)
	}
	conditions.Set(v1alpha1.MiniClusterRunning, false, v1alpha1.ReasonPodsTerminating, text)
	if d.invalid == "" {
		conditions.Set(events.ConditionReady, false, v1alpha1.ReasonPodsTerminating, text)
	}
}
