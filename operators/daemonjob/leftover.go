package daemonjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// podsOfJobs are the pods of the Jobs that there are, and those that former Jobs have left, by the label of their node.
type podsOfJobs struct {
	outcome.ByJob
	left map[string]*corev1.Pod
}

// leftover returns the pods that haven't ended and whose Job is gone: a node gets no Job beside them.
func leftover(seen builder.View, jobs []*batchv1.Job) map[string]*corev1.Pod {
	var left map[string]*corev1.Pod
	for _, pod := range outcome.Leftover(builder.Naming[*corev1.Pod](seen), jobs) {
		if left == nil {
			left = map[string]*corev1.Pod{}
		}
		if node := pod.Labels[LabelNode]; left[node] == nil { // the first one, by name
			left[node] = pod
		}
	}
	return left
}

// jobsOf returns the name of the DaemonJob that a pod was made for.
func jobsOf(pod client.Object) []string {
	if name := pod.GetAnnotations()[AnnotationDaemonJob]; name != "" {
		return []string{name}
	}
	if name := pod.GetLabels()[LabelDaemonJob]; name != "" {
		return []string{name}
	}
	return nil
}
