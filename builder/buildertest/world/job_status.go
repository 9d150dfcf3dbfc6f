package world

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// writeStatus writes the Job's status if it differs.
func (j *jobSync) writeStatus() []Change {
	status := j.status()
	if equality.Semantic.DeepEqual(status, &j.job.Status) {
		return nil
	}
	return []Change{updateStatus(changed(j.job, func(job *batchv1.Job) { job.Status = *status }))}
}

func (j *jobSync) status() *batchv1.JobStatus {
	st := j.job.Status.DeepCopy()
	if st.UncountedTerminatedPods == nil {
		st.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	if st.StartTime == nil && !j.isSuspended() {
		st.StartTime = new(j.s.now())
	}
	var ready int32
	for _, pod := range j.active {
		if isReady(pod) {
			ready++
		}
	}
	st.Active, st.Ready, st.Terminating = int32(len(j.active)), &ready, new(j.terminating)
	j.countReleased(st)
	if j.job.DeletionTimestamp == nil && j.end == nil && !j.isComplete() {
		j.setSuspended(st)
	}
	j.addUncounted(st)
	if j.isIndexed() {
		st.CompletedIndexes, st.Succeeded = j.indexes.String(), int32(len(j.indexes))
	}
	if j.perIndex != nil {
		st.FailedIndexes = new(j.perIndex.failed.String())
	}
	j.setEnd(st)
	return st
}

// countReleased moves pods without a finalizer from the uncounted to the counters.
func (j *jobSync) countReleased(st *batchv1.JobStatus) {
	tracked := map[types.UID]bool{}
	for _, pod := range j.pods {
		tracked[pod.UID] = isTracked(pod)
	}
	released := func(uid types.UID) bool { return !tracked[uid] }
	u := st.UncountedTerminatedPods
	before := len(u.Succeeded)
	u.Succeeded = slices.DeleteFunc(u.Succeeded, released)
	st.Succeeded += int32(before - len(u.Succeeded))
	before = len(u.Failed)
	u.Failed = slices.DeleteFunc(u.Failed, released)
	st.Failed += int32(before - len(u.Failed))
}

// addUncounted records the pods that have ended, and whose finalizer can then be removed.
func (j *jobSync) addUncounted(st *batchv1.JobStatus) {
	u := st.UncountedTerminatedPods
	for _, pod := range j.pods {
		if !isTracked(pod) || !j.canRelease(pod) || slices.Contains(u.Succeeded, pod.UID) || slices.Contains(u.Failed, pod.UID) {
			continue
		}
		failing := j.end != nil && j.end.Type == batchv1.JobFailureTarget
		switch {
		case pod.Status.Phase == corev1.PodSucceeded:
			if !j.isIndexed() {
				u.Succeeded = append(u.Succeeded, pod.UID)
			}
		case (j.isFailed(pod) || failing) && j.hasValidIndex(pod) && j.countsFailure(pod):
			u.Failed = append(u.Failed, pod.UID)
		}
	}
}

// setSuspended sets the condition Suspended. A Job that was never suspended has none.
func (j *jobSync) setSuspended(st *batchv1.JobStatus) {
	is, reason, message := corev1.ConditionFalse, "JobResumed", "Job resumed"
	if j.isSuspended() {
		is, reason, message = corev1.ConditionTrue, "JobSuspended", "Job suspended"
	}
	at := slices.IndexFunc(st.Conditions, func(c batchv1.JobCondition) bool { return c.Type == batchv1.JobSuspended })
	if at < 0 && !j.isSuspended() || at >= 0 && st.Conditions[at].Status == is {
		return
	}
	c := j.condition(batchv1.JobSuspended, reason, message)
	c.Status = is
	if at < 0 {
		st.Conditions = append(st.Conditions, *c)
	} else {
		st.Conditions[at] = *c
	}
	st.StartTime = nil
	if !j.isSuspended() {
		st.StartTime = new(j.s.now())
	}
}

// setEnd announces the Job's end, and completes it when all pods have ended and are counted.
func (j *jobSync) setEnd(st *batchv1.JobStatus) {
	end := j.end
	if end == nil && j.isComplete() {
		end = j.condition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods")
	}
	if end == nil {
		return
	}
	if !slices.ContainsFunc(st.Conditions, func(c batchv1.JobCondition) bool { return c.Type == end.Type }) {
		st.Conditions = append(st.Conditions, *end)
		return
	}
	u := st.UncountedTerminatedPods
	if len(u.Succeeded)+len(u.Failed)+int(j.terminating) > 0 || slices.ContainsFunc(j.pods, isTracked) {
		return
	}
	final := batchv1.JobFailed
	if end.Type == batchv1.JobSuccessCriteriaMet {
		final = batchv1.JobComplete
		st.CompletionTime = new(j.s.now())
	}
	st.Conditions = append(st.Conditions, *j.condition(final, end.Reason, end.Message))
}
