package minicluster

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// withdraw is the stage of a cluster that is suspended and should have no Job: it has none yet, or Kueue would start it
// again.
func (w *planning) withdraw() {
	w.suspend()
	switch {
	case w.scene.job == nil || w.scene.job.DeletionTimestamp != nil:
	case w.isAtRest():
		w.plan.Delete = []client.Object{w.scene.job}
	default:
		w.again(soon)
	}
}

// start is the stage without a Job.
func (w *planning) start() {
	switch {
	case w.c.Status.Leader != nil: // there was one
		w.retry(lost(w.c))
		return
	case lifecycle.Deadline(w.c.Status.StartTime, w.c.Spec.DeadlineSeconds, w.seen.Now).Due: // it came while no Job was there to see it
		w.fail(deadlineExceeded(w.c))
		return
	case w.invalid:
		w.describe()
		w.again(lifecycle.Deadline(w.c.Status.StartTime, w.c.Spec.DeadlineSeconds, w.seen.Now).Left)
		return
	case isQueued(w.c):
		w.wait()
	default:
		w.admit(w.scene.now)
		w.describe()
	}
	if w.isPrepared() {
		w.want(builder.Want(render(w.c, w.seen.Now), builder.CreateOnly()))
	}
}

// hold is the stage of a Job that is suspended.
func (w *planning) hold() {
	job := w.scene.job
	switch {
	case w.c.Spec.Suspend:
		w.suspend()
	case isQueued(w.c):
		w.wait()
	default:
		w.suspend() // until the Job is resumed
	}
	switch {
	case !w.isAtRest():
		w.again(soon)
	case w.invalid: // refuse goes on from here
	case !w.isStopped(): // the pods of before would be taken for those of after
	case condition(job, batchv1.JobFailureTarget) != nil || job.Annotations[annotationFailure] != "":
		// A pod that was stopped has ended with a code of its own: runc, for one, says 2 when it is told to stop before it has
		// started the container. The Job would fail as soon as it is resumed.
		w.plan.Delete = []client.Object{job}
	case job.Annotations[annotationTemplate] != digest(ptr.To(podTemplate(w.c))):
		w.plan.Delete = []client.Object{job} // the spec has changed in the meantime, and a Job's template can't
	case !w.c.Spec.Suspend:
		w.edit(func(after *batchv1.Job) {
			if !isQueued(w.c) { // else that is for Kueue to do
				after.Spec.Suspend = ptr.To(false)
			}
			w.resize(after)
			w.setDeadline(after, "0") // it begins anew
		})
	}
}

// isAtRest reports whether the status says already that the cluster doesn't run. Until it does, nothing is started or
// deleted: the next process would take the leader of before for one that was lost.
func (w *planning) isAtRest() bool { return w.c.Status.Leader == nil && w.c.Status.StartTime == nil }

// isStopped reports whether no pod of the Job runs any more.
func (w *planning) isStopped() bool {
	return w.scene.isStill() && ptr.Deref(w.scene.job.Status.Terminating, 0) == 0
}

// run is the stage of a Job that is active.
func (w *planning) run() {
	s, job := w.scene, w.scene.job
	if w.c.Spec.Suspend {
		w.edit(func(after *batchv1.Job) { after.Spec.Suspend = ptr.To(true) })
		w.describe()
		return
	}
	if w.status.StartTime == nil {
		w.admit(startOf(job, s.now))
	}
	stopping := w.isLeaderLost()
	if leader := s.leader(); !stopping && w.status.Leader == nil && leader != nil && !isOver(leader) {
		w.status.Leader = &v1alpha1.MiniClusterLeader{Pod: leader.Name, UID: leader.UID}
	}
	hopeless := ""
	if condition(job, batchv1.JobSuccessCriteriaMet) == nil && (!stopping || s.leaderEnd(w.c) != nil) {
		failed := w.noteWorkers()
		w.tellOfWorker()
		if !stopping {
			hopeless = w.hopeless(failed)
		}
	}
	w.edit(func(after *batchv1.Job) {
		if !w.invalid {
			w.resize(after)
		}
		w.setDeadline(after, after.Annotations[annotationSpent])
		if stopping && !failsByItself(w.c, s) {
			after.Spec.BackoffLimit = ptr.To[int32](0) // the lost leader has been counted: the Job fails, and stops the rest
		}
		if hopeless != "" {
			giveUp(after, hopeless)
		}
	})
	w.describe()
}

// startOf is when a Job was let start: by its own account, if Kueue let it.
func startOf(job *batchv1.Job, now metav1.Time) metav1.Time {
	if job.Status.StartTime != nil && job.Status.StartTime.Before(&now) {
		return *job.Status.StartTime
	}
	return now
}

// isLeaderLost reports whether the leader failed, or was replaced by another pod. Then everything is to be stopped.
func (w *planning) isLeaderLost() bool {
	s, known := w.scene, w.c.Status.Leader
	if condition(s.job, batchv1.JobSuccessCriteriaMet) != nil {
		return false
	}
	return s.fallen() != nil || (known != nil && (s.leader() == nil || s.leader().UID != known.UID))
}

// failsByItself reports whether the Job fails without help.
func failsByItself(c *v1alpha1.MiniCluster, s scene) bool {
	if condition(s.job, batchv1.JobFailureTarget) != nil {
		return true
	}
	pod := s.fallen()
	return pod != nil && endedByItself(c, pod)
}

// endedByItself reports whether a pod failed with an exit code that fails the Job: that of its command, not of its being
// stopped.
func endedByItself(c *v1alpha1.MiniCluster, pod *corev1.Pod) bool {
	state := ending(pod, workerName(c))
	return state != nil && state.ExitCode != 0 && state.ExitCode != exitWorker && state.ExitCode != exitKilled && state.ExitCode != exitStopped
}

// clear is the stage of a Job of before the last restart: it is deleted once all of its pods have stopped, so that no
// two of them ever have the same name in DNS.
func (w *planning) clear() {
	if w.scene.isStill() {
		w.plan.Delete = []client.Object{w.scene.job}
	}
	w.describe()
}

// edit changes the Job.
func (w *planning) edit(change func(after *batchv1.Job)) {
	after := w.scene.job.DeepCopy()
	change(after)
	w.plan.Edits = append(w.plan.Edits, builder.Edit{Before: w.scene.job, After: after})
}

// resize makes a Job as big as the cluster should be. Kubernetes removes the highest ranks first.
func (w *planning) resize(after *batchv1.Job) {
	if n := size(w.c); ptr.Deref(after.Spec.Parallelism, 0) != n || ptr.Deref(after.Spec.Completions, 0) != n {
		if w.c.Status.StartTime != nil {
			w.scaled(ptr.Deref(after.Spec.Parallelism, 0), n)
		}
		after.Spec.Parallelism, after.Spec.Completions = ptr.To(n), ptr.To(n)
	}
}

// setDeadline makes a Job end when the cluster's deadline comes, of which so many seconds had passed before it.
func (w *planning) setDeadline(after *batchv1.Job, spent string) {
	if seconds := w.c.Spec.DeadlineSeconds; (seconds == nil && after.Spec.ActiveDeadlineSeconds == nil) || ptr.Deref(seconds, 1) < 1 {
		return
	}
	if after.Annotations[annotationSpent] != spent {
		after.Annotations = maps.Clone(after.Annotations)
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, annotationSpent, spent)
	}
	after.Spec.ActiveDeadlineSeconds = deadline(w.c, after)
}
