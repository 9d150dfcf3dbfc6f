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
	return slices.MinFunc(succeeded, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(Index(a), Index(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// Index returns the completion index of a pod of an Indexed Job; -1 if it has none.
func Index(pod *corev1.Pod) int {
	const key = batchv1.JobCompletionIndexAnnotation // the label has the same key
	n, err := strconv.Atoi(cmp.Or(pod.Labels[key], pod.Annotations[key]))
	if err != nil {
		return -1
	}
	return n
}

// TerminationMessage returns the termination message of a pod's first container that has one, in the order of the spec.
func TerminationMessage(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		if end := Terminated(pod, pod.Spec.Containers[i].Name); end != nil && end.Message != "" {
			return end.Message
		}
	}
	return ""
}
