package minicluster

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/operators/internal/outcome"
)

// sync does what the Job controller would do next, as far as plans can tell: pods for all ranks, the end of the Job by
// its policies, the removal of what is too much. It reports whether that was anything.
func (w *world) sync() bool {
	job := w.job
	if job == nil {
		return false
	}
	before := job.DeepCopy()
	pods := len(w.pods)
	failed, leaderFailed, succeeded := 0, false, false
	for _, p := range w.pods {
		if p.Status.Phase == corev1.PodFailed {
			failed++
			leaderFailed = leaderFailed || endedByItself(w.c, p)
		}
		succeeded = succeeded || (p.Status.Phase == corev1.PodSucceeded && outcome.Index(p) == 0)
	}
	job.Status.Failed = max(job.Status.Failed, int32(failed))
	over := outcome.Condition(job, batchv1.JobComplete) != nil || outcome.Condition(job, batchv1.JobFailed) != nil
	late := job.Spec.ActiveDeadlineSeconds != nil && job.Status.StartTime != nil &&
		w.now.Sub(job.Status.StartTime.Time) >= time.Duration(*job.Spec.ActiveDeadlineSeconds)*time.Second
	switch {
	case over:
	case leaderFailed:
		w.end(batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy)
	case job.Status.Failed > *job.Spec.BackoffLimit:
		w.end(batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded)
	case late:
		w.end(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)
	case succeeded:
		w.end(batchv1.JobComplete, batchv1.JobReasonSuccessPolicy)
	case isSuspended(job):
		w.pods = slices.DeleteFunc(w.pods, func(p *corev1.Pod) bool { return !outcome.HasEnded(p) })
		job.Status.StartTime = nil
	default:
		if job.Status.StartTime == nil {
			job.Status.StartTime = new(metav1.NewTime(w.now))
		}
		n := int(*job.Spec.Parallelism)
		w.pods = slices.DeleteFunc(w.pods, func(p *corev1.Pod) bool { return outcome.Index(p) >= n })
		for i := range n {
			if !slices.ContainsFunc(w.pods, func(p *corev1.Pod) bool { return outcome.Index(p) == i && p.Status.Phase != corev1.PodFailed }) {
				w.pods = append(w.pods, w.newPod(i))
			}
		}
	}
	return pods != len(w.pods) || !equal(before, w.job)
}

func (w *world) newPod(i int) *corev1.Pod {
	w.serial++
	name := fmt.Sprintf("%s-%d-%d", w.job.Name, i, w.serial)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.job.Namespace, Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(w.now),
			Labels:          map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(i)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w.job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// end ends the Job, and with it all pods that run.
func (w *world) end(kind batchv1.JobConditionType, reason string) {
	w.job.Status.Conditions = append(w.job.Status.Conditions, batchv1.JobCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: "as the test says", LastTransitionTime: metav1.NewTime(w.now),
	})
	w.pods = slices.DeleteFunc(w.pods, func(p *corev1.Pod) bool { return !outcome.HasEnded(p) })
}

// pod returns the latest pod of a rank.
func (w *world) pod(i int) *corev1.Pod {
	for _, v := range slices.Backward(w.pods) {
		if outcome.Index(v) == i {
			return v
		}
	}
	return nil
}

// ready makes pods of some ranks run and be ready.
func (w *world) ready(ranks ...int) {
	for _, i := range ranks {
		w.pod(i).Status.Phase = corev1.PodRunning
		w.pod(i).Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
}

// exit ends the pod of a rank with an exit code.
func (w *world) exit(i int, code int32) {
	pod := w.pod(i)
	pod.Status.Phase = corev1.PodSucceeded
	reason := "Completed"
	if code != 0 {
		pod.Status.Phase, reason = corev1.PodFailed, "Error"
	}
	pod.Status.Conditions = nil
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: workerName(w.c), State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}},
	}}
}

// vanish removes the pod of a rank, as if it had been deleted.
func (w *world) vanish(i int) {
	gone := w.pod(i)
	w.pods = slices.DeleteFunc(w.pods, func(p *corev1.Pod) bool { return p == gone })
	w.job.Status.Failed++
}

// settle lets the operator and the Job controller act until neither has anything to do.
func (w *world) settle() {
	for range 50 {
		before := w.c.Status.DeepCopy()
		job := w.job.DeepCopy()
		w.pass()
		if synced := w.sync(); !synced && equal(before, &w.c.Status) && equal(job, w.job) {
			return
		}
	}
	panic("it doesn't settle")
}
