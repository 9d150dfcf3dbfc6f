package outcome

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Condition returns a condition of a Job that is true, or nil.
func Condition(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// ContainerStatus returns the status of a container of a pod, or nil if it has none.
func ContainerStatus(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Name == container {
			return s
		}
	}
	return nil
}

// Terminated returns how a container of a pod ended, or nil if it hasn't.
func Terminated(pod *corev1.Pod, container string) *corev1.ContainerStateTerminated {
	if s := ContainerStatus(pod, container); s != nil {
		return s.State.Terminated
	}
	return nil
}

// IsLost reports whether a pod failed, or is terminating before it has ended.
func IsLost(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || (pod.DeletionTimestamp != nil && !HasEnded(pod))
}

// LostAt returns when a pod failed, or its deletion began.
func LostAt(pod *corev1.Pod) metav1.Time {
	var times []metav1.Time
	if deleted := pod.DeletionTimestamp; deleted != nil { // this is when its grace period ends
		grace := time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second
		times = append(times, metav1.NewTime(deleted.Add(-grace)))
	}
	if c := Disruption(pod); c != nil && !c.LastTransitionTime.IsZero() {
		times = append(times, c.LastTransitionTime)
	}
	if ended := PodEnded(pod); ended != nil {
		times = append(times, *ended)
	}
	if len(times) == 0 {
		return pod.CreationTimestamp
	}
	return slices.MinFunc(times, func(a, b metav1.Time) int { return a.Compare(b.Time) })
}

// WasDisrupted reports whether a pod was stopped from outside: deleted, drained, preempted, or lost with its node.
func WasDisrupted(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Reason == "Evicted" || Disruption(pod) != nil
}

// Disruption returns a pod's condition DisruptionTarget if it is true, or nil.
func Disruption(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}
