package minicluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

const (
	// workerTries is how many pods of one rank may fail by themselves before the work has begun: as many as a Job of
	// Kubernetes allows by default. The Job makes them ever more rarely, so it takes some minutes.
	workerTries = 6
	// suspectFor is how long after a worker was lost the leader's failure is told together with it.
	suspectFor = 5 * time.Minute
)

// noteWorkers records the worker that failed or was lost last, of those that did before the leader ended, if it has.
// What is stopped after the leader was not lost. It returns all of them that can be seen.
func (w *planning) noteWorkers() []v1alpha1.MiniClusterFailedWorker {
	failed := w.failedWorkers()
	for i := range failed {
		f, last := failed[i], w.status.FailedWorker
		switch {
		case last == nil:
		case last.Pod == f.Pod: // its exit code comes later than its deletion
			f.Time, f.Count = last.Time, max(f.Count, last.Count)
		case f.Time.Before(&last.Time) || (f.Time.Equal(&last.Time) && f.Pod < last.Pod):
			continue
		case last.Rank == f.Rank:
			f.Count = max(f.Count, last.Count+1) // earlier ones may be gone
		}
		w.status.FailedWorker = &f
	}
	return failed
}

// failedWorkers returns the workers' pods that failed or were lost since the start, the earliest first.
func (w *planning) failedWorkers() []v1alpha1.MiniClusterFailedWorker {
	var failed []v1alpha1.MiniClusterFailedWorker
	end := w.scene.leaderEnd(w.c)
	for _, pod := range w.scene.pods {
		if r := rank(pod); r < 1 || r >= int(size(w.c)) || !isLost(pod) {
			continue
		}
		at := lostAt(pod)
		if at.Before(w.status.StartTime) || (end != nil && (end.Before(&at) || (pod.DeletionTimestamp != nil && !at.Before(end)))) {
			continue
		}
		failed = append(failed, failedWorker(pod, workerName(w.c), at))
	}
	slices.SortFunc(failed, func(a, b v1alpha1.MiniClusterFailedWorker) int {
		return cmp.Or(a.Time.Compare(b.Time.Time), strings.Compare(a.Pod, b.Pod))
	})
	counts := map[int32]int32{}
	for i := range failed {
		counts[failed[i].Rank]++
		failed[i].Count = counts[failed[i].Rank]
	}
	return failed
}

// isLost reports whether a pod failed, or is being taken away.
func isLost(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || (pod.DeletionTimestamp != nil && !isOver(pod))
}

// lostAt is when a pod failed, or was told to stop.
func lostAt(pod *corev1.Pod) metav1.Time {
	var times []metav1.Time
	if deleted := pod.DeletionTimestamp; deleted != nil { // this is when its grace period ends
		grace := time.Duration(0)
		if pod.DeletionGracePeriodSeconds != nil {
			grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
		}
		times = append(times, metav1.NewTime(deleted.Add(-grace)))
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero() {
			times = append(times, c.LastTransitionTime)
		}
	}
	if ended := outcome.PodEnded(pod); ended != nil {
		times = append(times, *ended)
	}
	if len(times) == 0 {
		return pod.CreationTimestamp
	}
	return slices.MinFunc(times, func(a, b metav1.Time) int { return a.Compare(b.Time) })
}

// failedWorker describes a pod that failed or was lost.
func failedWorker(pod *corev1.Pod, container string, at metav1.Time) v1alpha1.MiniClusterFailedWorker {
	f := v1alpha1.MiniClusterFailedWorker{Rank: int32(rank(pod)), Pod: pod.Name, Time: at}
	how := outcome.OfPodFailure(pod, container)
	f.ExitCode = how.ExitCode
	switch {
	case wasTaken(pod) && len(how.Reasons) == 0:
		f.Message = "was deleted"
	case wasTaken(pod):
		f.Message = "was taken away (" + strings.Join(how.Reasons, ", ") + ")"
	case how.ExitCode != nil:
		f.Message = fmt.Sprintf("ended with exit code %d (%s)", *how.ExitCode, cmp.Or(strings.Join(how.Reasons, ", "), "Error"))
	default:
		f.Message = "failed (" + cmp.Or(strings.Join(how.Reasons, ", "), "no container of it has ended") + ")"
	}
	f.Message += because(strings.Join(how.Messages, "; "))
	return f
}

// leaderEnd is when the leader's container ended, or was told to stop. It is nil if it goes on, or its pod is gone.
func (s scene) leaderEnd(c *v1alpha1.MiniCluster) *metav1.Time {
	for _, pod := range s.leaders {
		if known := c.Status.Leader; known != nil && known.UID != pod.UID {
			continue
		}
		state := ending(pod, workerName(c))
		if isLost(pod) {
			at := lostAt(pod)
			if state != nil && state.FinishedAt.Before(&at) {
				at = state.FinishedAt
			}
			return &at
		}
		if state != nil {
			return &state.FinishedAt
		}
	}
	return nil
}

// tellOfWorker emits an event about the first worker that failed since the start. Others are in the status: a node pool
// that goes takes many.
func (w *planning) tellOfWorker() {
	if f := w.status.FailedWorker; f != nil && w.c.Status.FailedWorker == nil {
		w.tell(events.Warning(v1alpha1.ReasonWorkerFailed, describeWorker(f)))
	}
}

// describeWorker says in one sentence which worker failed, and when.
func describeWorker(f *v1alpha1.MiniClusterFailedWorker) string {
	what, often := "was lost", ""
	if failedByItself(f) {
		what = "failed"
	}
	if f.Count > 1 {
		often = fmt.Sprintf(" %d times, the last time", f.Count)
	}
	return fmt.Sprintf("rank %d %s%s at %s: pod %s %s", f.Rank, what, often, f.Time.UTC().Format(time.RFC3339), f.Pod, f.Message)
}

// besides adds to a message which worker failed last, if one has.
func (w *planning) besides(message string) string {
	if f := w.status.FailedWorker; f != nil {
		return message + "; " + describeWorker(f)
	}
	return message
}

// blame adds to a failure of the leader which worker was lost before it: jobs that ran there fail.
func (w *planning) blame(f failure) failure {
	lost, end := w.status.FailedWorker, w.scene.leaderEnd(w.c)
	if f.reason == v1alpha1.ReasonLeaderFailed && lost != nil && end != nil && end.Sub(lost.Time.Time) <= suspectFor {
		f.message += "; before that, " + describeWorker(lost)
	}
	return f
}

// hopeless says why the work will never begin: so many workers fail by themselves again and again that there will be no
// quorum. It is empty if that isn't so. Once the work has begun it goes on with the other workers.
func (w *planning) hopeless(failed []v1alpha1.MiniClusterFailedWorker) string {
	if leader := w.scene.leader(); leader != nil && hasBegun(leader, workerName(w.c)) {
		return ""
	}
	ranks := map[int32]bool{}
	last := -1
	for i := range failed {
		if f := &failed[i]; f.Count >= workerTries && failedByItself(f) {
			ranks[f.Rank], last = true, i
		}
	}
	if last < 0 || len(ranks) <= int(size(w.c)-quorum(w.c)) {
		return ""
	}
	return fmt.Sprintf("there will be no quorum of %d: %s", quorum(w.c), describeWorker(&failed[last]))
}

// failedByItself reports whether a worker failed by its own scripts, and wasn't stopped.
func failedByItself(f *v1alpha1.MiniClusterFailedWorker) bool {
	return f.ExitCode != nil && *f.ExitCode != exitKilled && *f.ExitCode != exitStopped
}

// hasBegun reports whether a leader's work has begun: the startup probe, which looks for that, has succeeded.
func hasBegun(pod *corev1.Pod, container string) bool {
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Name == container && s.Started != nil && *s.Started {
			return true
		}
	}
	return isServing(pod, container)
}

// giveUp makes a Job fail because of a worker, and says why.
func giveUp(job *batchv1.Job, why string) {
	zero := int32(0)
	job.Spec.BackoffLimit = &zero
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, annotationFailure, why)
}
