package outcome

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// OfPods returns the outcome of a Job that hasn't ended yet as its pods determine it: Succeeded if the Job is certain to
// become complete, else Running. The Job controller evaluates pods about once a second only, so this is known earlier
// than the Job's own condition; see the package's comment for the rule.
//
// Pods are those that the Job controls. What is given may be old, the Job and the pods each by itself: what was
// determined once stays so.
func OfPods(job *batchv1.Job, pods []*corev1.Pod) Outcome {
	if !podsDecide(job) || len(pods) == 0 {
		return Outcome{}
	}
	var all tally
	for _, pod := range pods {
		if !HasEnded(pod) { // a terminating one beside its replacement that has succeeded: the Job controller waits for its end, too
			return Outcome{}
		}
		all.add(job, pod)
	}
	if all.of(job) < completionsOf(job) || all.failed > ptr.Deref(job.Spec.BackoffLimit, 6) {
		return Outcome{}
	}
	o := Outcome{Phase: Succeeded}
	if !all.ended.IsZero() {
		o.Ended = &all.ended
	}
	return o
}

// podsDecide reports whether nothing but the number of its pods that succeed decides how a Job ends.
func podsDecide(job *batchv1.Job) bool {
	s := &job.Spec
	return job.DeletionTimestamp == nil && Condition(job, batchv1.JobFailureTarget) == nil && Condition(job, batchv1.JobFailed) == nil &&
		s.ActiveDeadlineSeconds == nil && s.PodFailurePolicy == nil && s.SuccessPolicy == nil &&
		s.BackoffLimitPerIndex == nil && s.MaxFailedIndexes == nil && s.ManagedBy == nil &&
		(s.Completions != nil || ptr.Deref(s.Parallelism, 1) == 1) && ptr.Deref(s.Completions, 1) > 0
}

func completionsOf(job *batchv1.Job) int { return int(ptr.Deref(job.Spec.Completions, 1)) }

func isIndexed(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

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

// Outcome returns how a Job has ended: by its conditions, or, if it has none yet, as its pods determine it (see [OfPods]), unless endOfJob
// says to wait for the conditions.
func (b ByJob) Outcome(job *batchv1.Job, endOfJob v1alpha1.EndOfJob) Outcome {
	o := Of(job)
	if o.Phase == Running && endOfJob != v1alpha1.EndOfJobCondition {
		o = OfPods(job, b[job.UID])
	}
	return o
}

// IsDecided reports whether a Job that is deleted now would have ended by itself, without another pod: to create it again would repeat its
// work, or forget its failure. The Job controller may still have to say so, after it has counted the pods, or until the last one has ended.
func (b ByJob) IsDecided(job *batchv1.Job) bool {
	if Condition(job, batchv1.JobSuccessCriteriaMet) != nil || Condition(job, batchv1.JobFailureTarget) != nil ||
		b.Outcome(job, v1alpha1.EndOfJobPods).Phase != Running {
		return true
	}
	// What pods that have all ended mean for the Job may depend on its policies. If it isn't the end, another pod follows.
	return !ptr.Deref(job.Spec.Suspend, false) && b.Unended(job) == nil && FirstSucceeded(b[job.UID]) != nil
}

// Unended returns the first of a Job's pods that hasn't ended, or nil.
func (b ByJob) Unended(job *batchv1.Job) *corev1.Pod {
	for _, pod := range b[job.UID] {
		if !HasEnded(pod) {
			return pod
		}
	}
	return nil
}

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
		index := Index(pod)
		if index < 0 || index >= completionsOf(job) {
			return
		}
		if n.indexes == nil {
			n.indexes = map[int]bool{}
		}
		n.indexes[index] = true
	default:
		n.succeeded++
	}
	if t := PodEnded(pod); n.ended.Before(t) {
		n.ended = *t
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
