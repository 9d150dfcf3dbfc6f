package world

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// jobController imitates the Job controller of Kubernetes 1.37 (syncJob): what it does in one sync is here a step for each write, in the
// same order: it deletes pods, then creates pods, then writes the status, then removes the finalizers of the counted pods. Differences:
// it doesn't wait a second for further pods to end, and the backoff is derived from the pods that still exist.
type jobController struct{}

func (jobController) Name() string { return "job-controller" }

func (jobController) Changes(s *State) []Change {
	var changes []Change
	for _, job := range All[*batchv1.Job](s) {
		if isManagedByOther(job) || isFinished(job) {
			continue
		}
		changes = append(changes, newJobSync(s, job).next()...)
	}
	return append(changes, releaseOrphans(s)...)
}

// releaseOrphans removes the Job controller's finalizer from pods without a controller, and from those whose Job is gone or has ended.
// Pods of a Job that another controller manages keep it (handleSingleOrphanPod).
func releaseOrphans(s *State) []Change {
	var changes []Change
	for _, pod := range All[*corev1.Pod](s) {
		if !isTracked(pod) {
			continue
		}
		if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
			if ref.Kind != "Job" || ref.APIVersion != batchv1.SchemeGroupVersion.String() {
				continue
			}
			if job := byUID[*batchv1.Job](s, ref.UID); job != nil && (isManagedByOther(job) || !isFinished(job)) {
				continue
			}
		}
		changes = append(changes, update(changed(pod, untrack)))
	}
	return changes
}

func isManagedByOther(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName) != batchv1.JobControllerName
}

func isFinished(job *batchv1.Job) bool {
	return jobCondition(job, batchv1.JobComplete) != nil || jobCondition(job, batchv1.JobFailed) != nil
}

// jobCondition returns a Job's condition if it is True.
func jobCondition(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func isTracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

func untrack(p *corev1.Pod) {
	p.Finalizers = slices.DeleteFunc(p.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// jobSync is one look of the Job controller at a Job and its pods.
type jobSync struct {
	s    *State
	job  *batchv1.Job
	pods []*corev1.Pod

	active      []*corev1.Pod // neither ended nor being deleted
	terminating int32         // being deleted, and not ended
	succeeded   int32         // counted, or about to be
	failed      int32
	indexes     indexSet              // that have succeeded; of Indexed Jobs
	perIndex    *indexFailures        // nil without backoffLimitPerIndex
	end         *batchv1.JobCondition // the end that is due: SuccessCriteriaMet or FailureTarget; nil: none
}

func newJobSync(s *State, job *batchv1.Job) *jobSync {
	j := &jobSync{s: s, job: job, pods: ownedBy[*corev1.Pod](s, job)}
	uncounted := ptr.Deref(job.Status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
	j.succeeded = job.Status.Succeeded + int32(len(uncounted.Succeeded))
	j.failed = job.Status.Failed + int32(len(uncounted.Failed))
	for _, pod := range j.pods {
		switch {
		case isTerminal(pod):
		case pod.DeletionTimestamp != nil:
			j.terminating++
		default:
			j.active = append(j.active, pod)
		}
		isUncounted := slices.Contains(uncounted.Succeeded, pod.UID) || slices.Contains(uncounted.Failed, pod.UID)
		if !isTracked(pod) || isUncounted || !j.hasValidIndex(pod) {
			continue
		}
		if pod.Status.Phase == corev1.PodSucceeded {
			j.succeeded++
		} else if j.isFailed(pod) && j.countsFailure(pod) {
			j.failed++
		}
	}
	if j.isIndexed() {
		j.indexes = j.succeededIndexes()
		j.succeeded = int32(len(j.indexes))
		if job.Spec.BackoffLimitPerIndex != nil {
			j.perIndex = newIndexFailures(j, failedByItself)
		}
	}
	if j.end = j.dueEnd(); j.end == nil && j.perIndex != nil {
		// Deleted pods count too, but for those that the controller deletes at the Job's end: it removes their finalizers in the same sync.
		j.perIndex = newIndexFailures(j, j.isFailed)
		j.end = j.dueEnd()
	}
	return j
}

// isFailed reports whether a pod counts as failed. One that is being deleted does, unless only failed pods are replaced.
func (j *jobSync) isFailed(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed {
		return true
	}
	return pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded && !j.replacesOnlyFailed() &&
		(j.end == nil || j.end.Type != batchv1.JobSuccessCriteriaMet)
}

func (j *jobSync) replacesOnlyFailed() bool {
	return ptr.Deref(j.job.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed) == batchv1.Failed
}

func (j *jobSync) isSuspended() bool { return ptr.Deref(j.job.Spec.Suspend, false) }

// dueEnd returns the end that the Job reaches now, in the order in which the controller asks.
func (j *jobSync) dueEnd() *batchv1.JobCondition {
	job := j.job
	if c := jobCondition(job, batchv1.JobSuccessCriteriaMet); c != nil {
		return c
	}
	if c := jobCondition(job, batchv1.JobFailureTarget); c != nil {
		return c
	}
	if message := j.failJobMessage(); message != "" {
		return j.condition(batchv1.JobFailureTarget, batchv1.JobReasonPodFailurePolicy, message)
	}
	if j.failed > ptr.Deref(job.Spec.BackoffLimit, 6) || j.pastBackoffOnFailure() {
		return j.condition(batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	}
	if job.Spec.ActiveDeadlineSeconds != nil && job.Status.StartTime != nil && !j.isSuspended() &&
		j.s.Due(job.Status.StartTime.Add(seconds(*job.Spec.ActiveDeadlineSeconds))) {
		return j.condition(batchv1.JobFailureTarget, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	}
	if j.perIndex != nil {
		if end := j.perIndex.end(j); end != nil {
			return end
		}
	}
	if message := j.successMessage(); message != "" {
		return j.condition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, message)
	}
	return nil
}

// isComplete reports whether enough pods have succeeded.
func (j *jobSync) isComplete() bool {
	if len(j.active) > 0 {
		return false
	}
	if j.job.Spec.Completions == nil {
		return j.succeeded > 0
	}
	return j.succeeded >= *j.job.Spec.Completions
}

func (j *jobSync) condition(kind batchv1.JobConditionType, reason, message string) *batchv1.JobCondition {
	now := j.s.now()
	return &batchv1.JobCondition{
		Type: kind, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now, Reason: reason, Message: message,
	}
}

// next returns the Job's next writes. A refused pod is an error of the sync, after which the controller still counts what has ended.
func (j *jobSync) next() []Change {
	for _, writes := range []func() []Change{j.deletePods, j.createPods, j.writeStatus, j.releasePods} {
		if changes, _ := withinQuota(j.s, writes()); len(changes) > 0 {
			return changes
		}
	}
	return nil
}

// deletePods stops pods of a Job that ends, is suspended or has too many. They count as failed only if the Job fails; else their finalizer
// goes first.
func (j *jobSync) deletePods() []Change {
	surplus := len(j.active)
	switch {
	case j.end != nil && j.end.Type == batchv1.JobSuccessCriteriaMet:
		// They don't count either. The controller deletes them and removes the finalizer in one sync, before a kubelet can stop them.
		if jobCondition(j.job, batchv1.JobSuccessCriteriaMet) == nil {
			return nil
		}
	case j.end != nil:
		var changes []Change
		for _, pod := range j.active {
			changes = append(changes, remove(pod))
		}
		return changes
	case j.job.DeletionTimestamp != nil:
		return nil
	case !j.isSuspended():
		surplus = max(len(j.active)-j.wantedActive(), 0)
	}
	var changes []Change
	for _, pod := range j.forRemoval(surplus) {
		if isTracked(pod) {
			changes = append(changes, update(changed(pod, untrack)))
		} else {
			changes = append(changes, remove(pod))
		}
	}
	return changes
}

// wantedActive is the number of pods that should run.
func (j *jobSync) wantedActive() int {
	parallelism := int(ptr.Deref(j.job.Spec.Parallelism, 1))
	switch {
	case j.job.Spec.Completions != nil:
		return max(min(int(*j.job.Spec.Completions-j.succeeded), parallelism), 0)
	case j.succeeded > 0:
		return len(j.active)
	default:
		return parallelism
	}
}

// createPods starts missing pods, after the backoff of the last failures.
func (j *jobSync) createPods() []Change {
	if j.end != nil || j.job.DeletionTimestamp != nil || j.isSuspended() {
		return nil
	}
	missing := j.wantedActive() - len(j.active)
	if j.replacesOnlyFailed() {
		missing -= int(j.terminating)
	}
	if missing <= 0 || j.perIndex == nil && !j.s.Due(backoffUntil(j.pods)) {
		return nil
	}
	if j.isIndexed() {
		return j.createIndexed(missing)
	}
	var changes []Change
	last := j.s.lastNumber(j.job.Namespace, j.job.Name+"-", int(j.succeeded+j.failed))
	for i := range missing {
		changes = append(changes, create(j.newPod(fmt.Sprintf("%s-%d", j.job.Name, last+i+1))))
	}
	return changes
}

// releasePods removes the finalizer of the pods that are counted, or needn't be.
func (j *jobSync) releasePods() []Change {
	var changes []Change
	for _, pod := range j.pods {
		if isTracked(pod) && j.canRelease(pod) {
			changes = append(changes, update(changed(pod, untrack)))
		}
	}
	return changes
}

func (j *jobSync) canRelease(pod *corev1.Pod) bool {
	if j.job.DeletionTimestamp != nil || j.end != nil || j.isComplete() || pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	return j.isFailed(pod) && (j.perIndex == nil || j.perIndex.waiting[indexOf(pod)] != pod)
}

// ttlController imitates the controller of ttlSecondsAfterFinished.
type ttlController struct{}

func (ttlController) Name() string { return "ttl-after-finished-controller" }

func (ttlController) Changes(s *State) []Change {
	var changes []Change
	for _, job := range All[*batchv1.Job](s) {
		ttl := job.Spec.TTLSecondsAfterFinished
		if ttl == nil || job.DeletionTimestamp != nil || !isFinished(job) {
			continue
		}
		end := jobCondition(job, batchv1.JobComplete)
		if end == nil {
			end = jobCondition(job, batchv1.JobFailed)
		}
		if s.Due(end.LastTransitionTime.Add(seconds(int64(*ttl)))) {
			changes = append(changes, remove(job, client.PropagationPolicy(metav1.DeletePropagationForeground)))
		}
	}
	return changes
}
