package outcome

import (
	"cmp"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// FirstSucceeded returns the pod whose output is that of its Job: of those that succeeded the one with the lowest completion index, or
// without indexes the oldest; nil if none has succeeded.
func FirstSucceeded(pods []*corev1.Pod) *corev1.Pod {
	succeeded := slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return pod.Status.Phase != corev1.PodSucceeded })
	if len(succeeded) == 0 {
		return nil
	}
	index := func(pod *corev1.Pod) int {
		n, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	return slices.MinFunc(succeeded, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(index(a), index(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// TerminationMessage returns the termination message of a pod's first container that has one, in the order of the spec.
func TerminationMessage(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		for j := range pod.Status.ContainerStatuses {
			s := &pod.Status.ContainerStatuses[j]
			if s.Name == pod.Spec.Containers[i].Name && s.State.Terminated != nil && s.State.Terminated.Message != "" {
				return s.State.Terminated.Message
			}
		}
	}
	return ""
}
