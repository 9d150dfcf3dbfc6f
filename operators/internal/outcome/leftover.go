package outcome

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Leftover returns the pods that haven't ended and whose Job is gone. A Job that is deleted is gone at once, or leaves its
// pods behind as orphans; as long as these run, a Job that takes its place would be a second writer beside them. So they
// are waited for, as a Job with podReplacementPolicy Failed waits for its terminating pods. Pods that something else than
// a Job controls aren't among them.
func Leftover(pods []*corev1.Pod, jobs []*batchv1.Job) []*corev1.Pod {
	var left []*corev1.Pod
	var there map[types.UID]bool
	for _, pod := range pods {
		if HasEnded(pod) {
			continue
		}
		if there == nil {
			there = make(map[types.UID]bool, len(jobs))
			for _, job := range jobs {
				there[job.UID] = true
			}
		}
		ref := metav1.GetControllerOfNoCopy(pod)
		if ref == nil || ref.Kind == "Job" && !there[ref.UID] {
			left = append(left, pod)
		}
	}
	return left
}
