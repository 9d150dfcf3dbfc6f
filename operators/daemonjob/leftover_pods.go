package daemonjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/names"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// leftovers are pods that haven't ended and whose Job is gone, by the label of their node.
type leftovers map[string][]*corev1.Pod

// leftoverPods returns the leftovers among the watched pods, which are those that name the DaemonJob.
func leftoverPods(view builder.View, jobs []*batchv1.Job) leftovers {
	left := leftovers{}
	for _, pod := range outcome.Leftover(builder.Watched[*corev1.Pod](view), jobs) {
		node := pod.Labels[LabelNode]
		left[node] = append(left[node], pod)
	}
	return left
}

// on returns the first of the pods that deleted Jobs have left on a node; nil if there is none. The node gets no Job while such a pod
// runs. A pod that is older than the node ran on an earlier node of the same name, and doesn't count.
func (l leftovers) on(node *corev1.Node) *corev1.Pod {
	for _, pod := range l[names.LabelValue(node.Name)] {
		if !pod.CreationTimestamp.Before(&node.CreationTimestamp) {
			return pod
		}
	}
	return nil
}
