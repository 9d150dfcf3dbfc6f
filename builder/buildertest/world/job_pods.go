package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// newPod returns a pod of the Job's template. Its name ends with a number: a Job's first pod is 1, where a real one has five random
// letters.
func (j *jobSync) newPod(name string) *corev1.Pod {
	pod := podOf(&j.job.Spec.Template, j.job.Namespace, name)
	pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(j.job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	return pod
}

// podOf returns a pod of a template.
func podOf(t *corev1.PodTemplateSpec, namespace, name string) *corev1.Pod {
	t = t.DeepCopy()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: t.Labels, Annotations: t.Annotations, Finalizers: t.Finalizers},
		Spec:       t.Spec,
	}
}

// createIndexed creates the pods of the lowest indexes that have none. An index that waits for its own backoff keeps its place.
func (j *jobSync) createIndexed(missing int) []Change {
	taken := maps.Clone(j.indexes)
	for _, pod := range j.pods {
		if !isTerminal(pod) && (pod.DeletionTimestamp == nil || j.replacesOnlyFailed()) {
			taken[indexOf(pod)] = true
		}
	}
	if j.perIndex != nil {
		maps.Copy(taken, j.perIndex.failed)
	}
	var changes []Change
	for i := 0; i < j.completions() && missing > 0; i++ {
		if taken[i] {
			continue
		}
		missing--
		if j.perIndex != nil && !j.s.Due(j.perIndex.retryAt(i)) {
			continue
		}
		prefix := fmt.Sprintf("%s-%d-", j.job.Name, i)
		pod := j.newPod(fmt.Sprint(prefix, j.s.lastNumber(j.job.Namespace, prefix, 0)+1))
		index := strconv.Itoa(i)
		setMap(&pod.Annotations, batchv1.JobCompletionIndexAnnotation, index)
		setMap(&pod.Labels, batchv1.JobCompletionIndexAnnotation, index)
		if j.perIndex != nil {
			j.perIndex.annotate(j, pod)
		}
		pod.Spec.Hostname = fmt.Sprintf("%s-%d", j.job.Name, i)
		for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for k := range containers {
				containers[k].Env = append(containers[k].Env, corev1.EnvVar{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.labels['%s']", batchv1.JobCompletionIndexAnnotation)},
				}})
			}
		}
		changes = append(changes, create(pod))
	}
	return changes
}

func setMap(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = value
}

// forRemoval returns the active pods to remove: those of duplicate and invalid indexes, then n in all, pending ones first.
func (j *jobSync) forRemoval(n int) []*corev1.Pod {
	var surplus, rest []*corev1.Pod
	seen := indexSet{}
	for _, pod := range j.active {
		if i := indexOf(pod); j.isIndexed() && (seen[i] || !j.hasValidIndex(pod)) {
			surplus = append(surplus, pod)
		} else {
			seen[i] = true
			rest = append(rest, pod)
		}
	}
	rank := func(pod *corev1.Pod) int {
		switch {
		case pod.Spec.NodeName == "":
			return 0
		case pod.Status.Phase == corev1.PodPending:
			return 1
		case !isReady(pod):
			return 2
		default:
			return 3
		}
	}
	slices.SortStableFunc(rest, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time))
	})
	for len(surplus) < n && len(rest) > 0 {
		surplus, rest = append(surplus, rest[0]), rest[1:]
	}
	return surplus
}

// backoff is how long a Job waits after failures without a success in between: 10 seconds, and twice as long for each further one, at most
// 10 minutes.
func backoff(failures int) time.Duration {
	const first, longest = 10 * time.Second, 10 * time.Minute
	return min(first<<min(failures-1, 10), longest)
}

// backoffUntil is when a Job may create pods after failures.
func backoffUntil(pods []*corev1.Pod) time.Time {
	var lastSuccess, lastFailure time.Time
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodSucceeded {
			lastSuccess = later(lastSuccess, finishedAt(pod))
		}
	}
	failures := 0
	for _, pod := range pods {
		isDeleted := pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded && isTracked(pod)
		failed := pod.Status.Phase == corev1.PodFailed || isDeleted
		if failed && finishedAt(pod).After(lastSuccess) {
			failures++
			lastFailure = later(lastFailure, finishedAt(pod))
		}
	}
	if failures == 0 {
		return time.Time{}
	}
	return lastFailure.Add(backoff(failures))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// finishedAt is when a pod ended, as the Job controller guesses it.
func finishedAt(pod *corev1.Pod) time.Time {
	var at time.Time
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Terminated != nil {
			at = later(at, c.State.Terminated.FinishedAt.Time)
		}
	}
	switch {
	case !at.IsZero():
		return at
	case pod.DeletionTimestamp != nil:
		return pod.DeletionTimestamp.Add(-seconds(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)))
	default:
		return pod.CreationTimestamp.Time
	}
}
