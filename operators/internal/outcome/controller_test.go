package outcome

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// cluster is a Job, its pods, and all that can happen to them: syncJob of the Job controller as far as it concerns the
// Jobs that podsDecide admits, a kubelet, and people who delete pods and suspend the Job. Each change is kept, so that
// observers can look at any past state.
type cluster struct {
	t    *rapid.T
	job  *batchv1.Job
	pods []*corev1.Pod
	made int

	jobs    []*batchv1.Job  // the Job after each change
	podSets [][]*corev1.Pod // the pods after each change
}

func newCluster(t *rapid.T, spec batchv1.JobSpec) *cluster {
	c := &cluster{t: t, job: &batchv1.Job{Spec: spec, Status: batchv1.JobStatus{UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}}}
	c.happened()
	return c
}

func (c *cluster) happened() {
	c.jobs = append(c.jobs, c.job.DeepCopy())
	var pods []*corev1.Pod
	for _, pod := range c.pods {
		pods = append(pods, pod.DeepCopy())
	}
	c.podSets = append(c.podSets, pods)
}

func (c *cluster) finished() bool { return c.has(batchv1.JobComplete) || c.has(batchv1.JobFailed) }

func (c *cluster) has(kind batchv1.JobConditionType) bool {
	return slices.ContainsFunc(c.job.Status.Conditions, func(is batchv1.JobCondition) bool { return is.Type == kind })
}

func hasFinalizer(pod *corev1.Pod) bool { return len(pod.Finalizers) > 0 }

// canRun reports whether a pod hasn't ended, and may still come to an end of its own.
func canRun(pod *corev1.Pod) bool { return pod.Status.Phase == "" }

func isActive(pod *corev1.Pod) bool { return canRun(pod) && pod.DeletionTimestamp == nil }

// countsAsFailed is isPodFailed of the Job controller.
func countsAsFailed(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || (pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded)
}

// sync is one pass of the Job controller, in the steps in which others see it.
func (c *cluster) sync() {
	if c.finished() {
		return
	}
	status, uncounted := &c.job.Status, c.job.Status.UncountedTerminatedPods
	for _, pod := range c.pods {
		known := slices.Contains(uncounted.Succeeded, pod.UID) || slices.Contains(uncounted.Failed, pod.UID)
		switch {
		case !hasFinalizer(pod) || known:
		case pod.Status.Phase == corev1.PodSucceeded:
			uncounted.Succeeded = append(uncounted.Succeeded, pod.UID)
		case countsAsFailed(pod):
			uncounted.Failed = append(uncounted.Failed, pod.UID)
		}
	}
	indexes := c.succeededIndexes()
	good := int(status.Succeeded) + len(uncounted.Succeeded)
	if isIndexed(c.job) {
		good = len(indexes)
	}
	bad := int(status.Failed) + len(uncounted.Failed)

	var end batchv1.JobConditionType
	switch {
	case bad > int(*c.job.Spec.BackoffLimit):
		end = batchv1.JobFailed
		c.remove(len(c.pods))
	default:
		c.manage(good, indexes)
		if good >= int(*c.job.Spec.Completions) && !slices.ContainsFunc(c.pods, isActive) {
			end = batchv1.JobComplete
		}
	}
	c.happened()
	for _, pod := range slices.Clone(c.pods) {
		if canRun(pod) && pod.DeletionTimestamp != nil && rapid.Bool().Draw(c.t, "it ends after it was counted") {
			c.end(pod)
		}
	}
	for _, pod := range c.pods { // one by one
		if slices.Contains(uncounted.Succeeded, pod.UID) || slices.Contains(uncounted.Failed, pod.UID) {
			pod.Finalizers = nil
			c.happened()
		}
	}
	if isIndexed(c.job) {
		status.CompletedIndexes = string(v1alpha1.IndexesOf(int(*c.job.Spec.Completions), func(i int) bool { return indexes[i] }))
	}
	status.Succeeded = int32(good)
	status.Failed += int32(len(uncounted.Failed))
	*uncounted = batchv1.UncountedTerminatedPods{}
	if ptr.Deref(c.job.Spec.Suspend, false) && !c.has(batchv1.JobSuspended) { // it stays, if only as False
		status.Conditions = append(status.Conditions, batchv1.JobCondition{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue})
	}
	if end != "" {
		status.Conditions = append(status.Conditions, batchv1.JobCondition{Type: end, Status: corev1.ConditionTrue})
	}
	c.collect()
	c.happened()
}

// manage makes as many pods active as the Job should have.
func (c *cluster) manage(good int, indexes map[int]bool) {
	wanted := min(int(*c.job.Spec.Parallelism), int(*c.job.Spec.Completions)-good)
	if ptr.Deref(c.job.Spec.Suspend, false) {
		wanted = 0
	}
	active := 0
	taken := map[int]bool{}
	for _, pod := range c.pods {
		if isActive(pod) {
			active++
			taken[indexOf(pod)] = true
		}
	}
	if active > wanted {
		c.remove(active - wanted)
	}
	for ; active < wanted; active++ {
		index := 0
		for taken[index] || indexes[index] {
			index++
		}
		taken[index] = true
		c.made++
		c.pods = append(c.pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint("pod-", c.made), UID: types.UID(fmt.Sprint(c.made)), Finalizers: []string{batchv1.JobTrackingFinalizer},
			Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)},
		}})
	}
}

// remove is how the controller deletes pods of its own accord: first the finalizer goes, so that they don't count.
func (c *cluster) remove(n int) {
	for _, pod := range slices.Clone(c.pods) {
		if n == 0 {
			return
		}
		if !isActive(pod) {
			continue
		}
		n--
		pod.Finalizers = nil
		c.happened()
		if rapid.Bool().Draw(c.t, "it ends just then") {
			c.end(pod)
		}
		pod.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
		c.happened()
	}
}

// collect takes away pods that are deleted and held by nothing.
func (c *cluster) collect() {
	c.pods = slices.DeleteFunc(c.pods, func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp != nil && !hasFinalizer(pod) && !canRun(pod)
	})
}

// end is what a kubelet says of a pod, also of one that is being deleted.
func (c *cluster) end(pod *corev1.Pod) {
	pod.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodSucceeded, corev1.PodFailed}).Draw(c.t, "phase")
	c.happened()
	c.collect()
}

func indexOf(pod *corev1.Pod) int {
	i, _ := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	return i
}

// succeededIndexes are those of pods that are counted, and of those on record.
func (c *cluster) succeededIndexes() map[int]bool {
	indexes := map[int]bool{}
	for i := range v1alpha1.Indexes(c.job.Status.CompletedIndexes).Below(int(*c.job.Spec.Completions)) {
		indexes[i] = true
	}
	for _, pod := range c.pods {
		if slices.Contains(c.job.Status.UncountedTerminatedPods.Succeeded, pod.UID) {
			indexes[indexOf(pod)] = true
		}
	}
	return indexes
}
