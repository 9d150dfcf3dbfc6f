package daemonjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/names"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// podsOfJobs are the pods of the Jobs that there are, and those that former Jobs have left, by the label of their node.
type podsOfJobs struct {
	outcome.ByJob
	left map[string][]*corev1.Pod
}

// leftover returns the pods that haven't ended and whose Job is gone.
func leftover(seen builder.View, jobs []*batchv1.Job) map[string][]*corev1.Pod {
	var left map[string][]*corev1.Pod
	for _, pod := range outcome.Leftover(builder.Watched[*corev1.Pod](seen), jobs) {
		if left == nil {
			left = map[string][]*corev1.Pod{}
		}
		node := pod.Labels[LabelNode]
		left[node] = append(left[node], pod)
	}
	return left
}

// leftOn returns the first of the pods that former Jobs have left on a node, or nil: the node gets no Job beside it. What is
// older than the node ran on its predecessor.
func (p podsOfJobs) leftOn(node *corev1.Node) *corev1.Pod {
	for _, pod := range p.left[names.LabelValue(node.Name)] {
		if !pod.CreationTimestamp.Before(&node.CreationTimestamp) {
			return pod
		}
	}
	return nil
}

// jobsOf returns the name of the DaemonJob that a pod was made for.
func jobsOf(pod *corev1.Pod) []string {
	if name := pod.GetAnnotations()[AnnotationDaemonJob]; name != "" {
		return []string{name}
	}
	if name := pod.GetLabels()[LabelDaemonJob]; name != "" {
		return []string{name}
	}
	return nil
}
