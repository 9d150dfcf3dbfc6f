package outcome

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ByJob are pods by the UIDs of the Jobs that control them: one may have a predecessor of the same name, whose pods are
// still there.
type ByJob map[types.UID][]*corev1.Pod

// GroupByJob groups pods by their Jobs. It leaves out the pods of Jobs for which include returns false, and pods without a
// controller.
func GroupByJob(pods []*corev1.Pod, include func(job *metav1.OwnerReference) bool) ByJob {
	groups := ByJob{}
	for _, pod := range pods {
		if ref := metav1.GetControllerOfNoCopy(pod); ref != nil && include(ref) {
			groups[ref.UID] = append(groups[ref.UID], pod)
		}
	}
	return groups
}

// Earliest returns a Job's outcome by its conditions, or, if it has none yet, as its pods determine it: see [OfPods].
func Earliest(job *batchv1.Job, pods ByJob) Outcome {
	o := Of(job)
	if o.Phase == Running {
		o = OfPods(job, pods[job.UID])
	}
	return o
}
