package world

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// indexFailures is what a Job with backoffLimitPerIndex adds to its sync: each index has its own count of failures and its own backoff.
// The count is in an annotation of the index's last pod. Therefore an index that waits for its next pod keeps the finalizer of the last
// one, which isn't counted before.
type indexFailures struct {
	failed  indexSet            // indexes that are beyond their limit, or whose pod matched FailIndex
	waiting map[int]*corev1.Pod // the last failed pod of each index that is to run again
}

// newIndexFailures reads the failures of a Job's indexes from the pods for which isFailed returns true.
func newIndexFailures(j *jobSync, isFailed func(*corev1.Pod) bool) *indexFailures {
	f := &indexFailures{failed: indexSet{}, waiting: map[int]*corev1.Pod{}}
	if recorded := j.job.Status.FailedIndexes; recorded != nil {
		f.failed = parseIndexes(*recorded, j.completions())
	}
	var pods []*corev1.Pod
	for _, pod := range j.pods {
		if !isTracked(pod) || !j.hasValidIndex(pod) || !isFailed(pod) {
			continue
		}
		pods = append(pods, pod)
		if j.failsIndex(pod) {
			f.failed[indexOf(pod)] = true
		}
	}
	active := indexSet{}
	for _, pod := range j.active {
		active[indexOf(pod)] = true
	}
	for _, pod := range pods {
		i := indexOf(pod)
		last := f.waiting[i]
		isLast := last == nil || failuresOf(last) <= failuresOf(pod) && !finishedAt(pod).Before(finishedAt(last))
		if isLast && !j.indexes[i] && !f.failed[i] && !active[i] {
			f.waiting[i] = pod
		}
	}
	return f
}

// failedByItself reports whether a pod failed without being deleted.
func failedByItself(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed && pod.DeletionTimestamp == nil
}

// failsIndex reports whether a failed pod is the last one of its index.
func (j *jobSync) failsIndex(pod *corev1.Pod) bool {
	if rule, _, _ := j.failureRule(pod); rule != nil && rule.Action == batchv1.PodFailurePolicyActionFailIndex {
		return true
	}
	return j.countsFailure(pod) && countIn(pod, batchv1.JobIndexFailureCountAnnotation) >= int(*j.job.Spec.BackoffLimitPerIndex)
}

// end returns the end that failed indexes mean for a Job; nil: none.
func (f *indexFailures) end(j *jobSync) *batchv1.JobCondition {
	limit := j.job.Spec.MaxFailedIndexes
	switch {
	case limit != nil && len(f.failed) > int(*limit):
		return j.condition(batchv1.JobFailureTarget, batchv1.JobReasonMaxFailedIndexesExceeded,
			"Job has exceeded the specified maximal number of failed indexes")
	case len(f.failed) > 0 && len(f.failed)+len(j.indexes) >= j.completions():
		return j.condition(batchv1.JobFailureTarget, batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	default:
		return nil
	}
}

// retryAt is when an index may run again: zero if its last pod hasn't failed.
func (f *indexFailures) retryAt(index int) time.Time {
	last := f.waiting[index]
	if last == nil {
		return time.Time{}
	}
	return finishedAt(last).Add(backoff(failuresOf(last) + 1))
}

// annotate records the failures of an index in its new pod.
func (f *indexFailures) annotate(j *jobSync, pod *corev1.Pod) {
	failures, ignored := 0, 0
	if last := f.waiting[indexOf(pod)]; last != nil {
		failures = countIn(last, batchv1.JobIndexFailureCountAnnotation)
		ignored = countIn(last, batchv1.JobIndexIgnoredFailureCountAnnotation)
		if j.countsFailure(last) {
			failures++
		} else {
			ignored++
		}
	}
	pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(failures)
	if ignored > 0 {
		pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(ignored)
	}
}

// failuresOf is the number of failures before a pod of its index, with those that podFailurePolicy ignores.
func failuresOf(pod *corev1.Pod) int {
	return countIn(pod, batchv1.JobIndexFailureCountAnnotation) + countIn(pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

// countIn returns the number in an annotation; 0 if there is none.
func countIn(pod *corev1.Pod, annotation string) int {
	n, err := strconv.Atoi(pod.Annotations[annotation])
	if err != nil {
		return 0
	}
	return max(n, 0)
}
