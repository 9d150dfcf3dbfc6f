package outcome

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
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

// endOf returns when the last container of a pod ended.
func endOf(pod *corev1.Pod) metav1.Time {
	var last metav1.Time
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil && last.Before(&t.FinishedAt) {
			last = t.FinishedAt
		}
	}
	return last
}
