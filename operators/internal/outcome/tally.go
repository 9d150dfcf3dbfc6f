package outcome

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// tally counts a Job's pods by how they have ended.
type tally struct {
	failed int32
	// succeeded are pods that the Job controller counts, or has: they have its finalizer, or are among the uncounted.
	succeeded int
	// released are pods without the finalizer: the controller has counted them, or has removed them.
	released int
	// indexes are those of the pods in succeeded, of a Job that is Indexed.
	indexes map[int]bool
	// ended is when the last of those that succeeded did.
	ended metav1.Time
}

// add counts a pod. One that is being deleted may have been counted as failed before it succeeded.
func (n *tally) add(job *batchv1.Job, pod *corev1.Pod) {
	switch {
	case pod.Status.Phase == corev1.PodFailed:
		n.failed++
		return
	case pod.Status.Phase != corev1.PodSucceeded || pod.DeletionTimestamp != nil:
		return
	case !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) && !isUncounted(job, pod):
		n.released++
	case isIndexed(job):
		index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
		if err != nil || index < 0 || index >= completionsOf(job) {
			return
		}
		if n.indexes == nil {
			n.indexes = map[int]bool{}
		}
		n.indexes[index] = true
	default:
		n.succeeded++
	}
	if t := endOf(pod); n.ended.Before(&t) {
		n.ended = t
	}
}

// of returns how many completions are certain: those that the Job's status has on record, and those of pods that it
// hasn't counted yet. Where the status has indexes, these tell one from another. Else there are only numbers, and the
// pods and the Job may be of different times. A pod without the finalizer that was not removed has been counted; so, if
// the pods are the older ones, each of these is on record. If the Job is older, those on record have no finalizer any more,
// and are none of the others. In both cases as many as there are of both can be added to the others. In a Job that was
// suspended there may be pods that were removed, and only the others count, unless all are on record.
func (n *tally) of(job *batchv1.Job) int {
	completions := completionsOf(job)
	onRecord := int(job.Status.Succeeded)
	switch {
	case isIndexed(job):
		all := len(n.indexes)
		for i := range v1alpha1.Indexes(job.Status.CompletedIndexes).Below(completions) {
			if !n.indexes[i] {
				all++
			}
		}
		return all
	case onRecord >= completions:
		return onRecord
	case wasSuspended(job):
		return n.succeeded
	default:
		return n.succeeded + min(n.released, onRecord)
	}
}

func isUncounted(job *batchv1.Job, pod *corev1.Pod) bool {
	u := job.Status.UncountedTerminatedPods
	return u != nil && slices.Contains(u.Succeeded, pod.UID)
}

// wasSuspended reports whether a Job is suspended, or ever was: its condition stays.
func wasSuspended(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.Suspend, false) || slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended
	})
}
