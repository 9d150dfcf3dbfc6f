package world

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// indexSet is a set of completion indexes.
type indexSet map[int]bool

// parseIndexes reads indexes below n as in completedIndexes, such as "0-2,5".
func parseIndexes(text string, n int) indexSet {
	set := indexSet{}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		for i := first; i <= last && i < n; i++ {
			set[i] = true
		}
	}
	return set
}

func (x indexSet) String() string {
	var parts []string
	sorted := slices.Sorted(maps.Keys(x))
	for start := 0; start < len(sorted); {
		end := start
		for end+1 < len(sorted) && sorted[end+1] == sorted[end]+1 {
			end++
		}
		part := strconv.Itoa(sorted[start])
		switch {
		case end == start+1: // the Job controller writes two indexes as a list
			part += "," + strconv.Itoa(sorted[end])
		case end > start:
			part += "-" + strconv.Itoa(sorted[end])
		}
		parts = append(parts, part)
		start = end + 1
	}
	return strings.Join(parts, ",")
}

func (j *jobSync) isIndexed() bool {
	return ptr.Deref(j.job.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

func (j *jobSync) completions() int { return int(ptr.Deref(j.job.Spec.Completions, 0)) }

// indexOf returns a pod's completion index, -1 for none.
func indexOf(pod *corev1.Pod) int {
	i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}

func (j *jobSync) hasValidIndex(pod *corev1.Pod) bool {
	i := indexOf(pod)
	return !j.isIndexed() || i >= 0 && i < j.completions()
}

// succeededIndexes are the recorded indexes, and those of pods that have succeeded since.
func (j *jobSync) succeededIndexes() indexSet {
	set := parseIndexes(j.job.Status.CompletedIndexes, j.completions())
	for _, pod := range j.pods {
		if pod.Status.Phase == corev1.PodSucceeded && isTracked(pod) && j.hasValidIndex(pod) {
			set[indexOf(pod)] = true
		}
	}
	return set
}
