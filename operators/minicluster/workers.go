package minicluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

const (
	// workerTries is how many pods of one rank may fail by themselves before the work has begun: as many as a Job of
	// Kubernetes allows by default. The Job makes them ever more rarely, so it takes some minutes.
	workerTries = 6
	// suspectFor is how long after a worker was lost the leader's failure is told together with it.
	suspectFor = 5 * time.Minute
)

// lastFailedWorker returns the worker to record: the recorded one, or the last of those that failed or were lost since.
func (p *pass) lastFailedWorker(failed []v1alpha1.MiniClusterFailedWorker) *v1alpha1.MiniClusterFailedWorker {
	last := p.c.Status.FailedWorker.DeepCopy()
	for _, f := range failed {
		switch {
		case last == nil:
		case last.Pod == f.Pod: // its exit code comes later than its deletion
			f.Time, f.Count = last.Time, max(f.Count, last.Count)
		case f.Time.Before(&last.Time) || (f.Time.Equal(&last.Time) && f.Pod < last.Pod):
			continue
		case last.Rank == f.Rank:
			f.Count = max(f.Count, last.Count+1) // earlier ones may be gone
		}
		last = &f
	}
	return last
}

// failedWorkers returns the workers' pods that failed or were lost since the start and before the leader ended, the earliest first.
// What is stopped after the leader wasn't lost.
func (p *pass) failedWorkers(o *observed, start *metav1.Time) []v1alpha1.MiniClusterFailedWorker {
	var failed []v1alpha1.MiniClusterFailedWorker
	end := o.leaderEnd(p.c)
	for _, pod := range o.pods {
		if r := outcome.Index(pod); r < 1 || r >= int(size(p.c)) || !outcome.IsLost(pod) {
			continue
		}
		at := outcome.LostAt(pod)
		if at.Before(start) || (end != nil && (end.Before(&at) || (pod.DeletionTimestamp != nil && !at.Before(end)))) {
			continue
		}
		failed = append(failed, failedWorker(pod, workerName(p.c), at))
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

// failedWorker describes a pod that failed or was lost.
func failedWorker(pod *corev1.Pod, container string, at metav1.Time) v1alpha1.MiniClusterFailedWorker {
	f := v1alpha1.MiniClusterFailedWorker{Rank: int32(outcome.Index(pod)), Pod: pod.Name, Time: at}
	how := outcome.OfPodFailure(pod, container)
	f.ExitCode = how.ExitCode
	switch {
	case outcome.WasDisrupted(pod) && len(how.Reasons) == 0:
		f.Message = "was deleted"
	case outcome.WasDisrupted(pod):
		f.Message = "was taken away (" + strings.Join(how.Reasons, ", ") + ")"
	case how.ExitCode != nil:
		f.Message = fmt.Sprintf("ended with exit code %d (%s)", *how.ExitCode, cmp.Or(strings.Join(how.Reasons, ", "), "Error"))
	default:
		f.Message = "failed (" + cmp.Or(strings.Join(how.Reasons, ", "), "no container of it has ended") + ")"
	}
	f.Message += because(strings.Join(how.Messages, "; "))
	return f
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

// withWorker adds to a message which worker failed last, if one has.
func withWorker(text string, f *v1alpha1.MiniClusterFailedWorker) string {
	if f == nil {
		return text
	}
	return text + "; " + describeWorker(f)
}

// blame adds to a failure of the leader which worker was lost before it: jobs that ran there fail.
func (p *pass) blame(f failure, o *observed, lost *v1alpha1.MiniClusterFailedWorker) failure {
	end := o.leaderEnd(p.c)
	if f.reason == v1alpha1.ReasonLeaderFailed && lost != nil && end != nil && end.Sub(lost.Time.Time) <= suspectFor {
		f.message += "; before that, " + describeWorker(lost)
	}
	return f
}

// infeasible returns why the work will never begin: so many workers fail repeatedly by themselves that there will be no quorum. It is
// empty if there may be one. Once the work has begun it continues with the other workers.
func (p *pass) infeasible(o *observed, failed []v1alpha1.MiniClusterFailedWorker) string {
	if leader := o.leader(); leader != nil && hasBegun(leader, workerName(p.c)) {
		return ""
	}
	ranks := map[int32]bool{}
	last := -1
	for i := range failed {
		if f := &failed[i]; f.Count >= workerTries && failedByItself(f) {
			ranks[f.Rank], last = true, i
		}
	}
	if last < 0 || len(ranks) <= int(size(p.c)-quorum(p.c)) {
		return ""
	}
	return fmt.Sprintf("there will be no quorum of %d: %s", quorum(p.c), describeWorker(&failed[last]))
}

// failedByItself reports whether a worker failed by its own scripts or couldn't start, and wasn't stopped or lost with its node.
func failedByItself(f *v1alpha1.MiniClusterFailedWorker) bool {
	return f.ExitCode != nil && *f.ExitCode != exitKilled && *f.ExitCode != exitStopped && *f.ExitCode != exitUnknown
}

// hasBegun reports whether a leader's work has begun: the startup probe, which checks that, has succeeded.
func hasBegun(pod *corev1.Pod, container string) bool {
	s := outcome.ContainerStatus(pod, container)
	return s != nil && ptr.Deref(s.Started, false) || isServing(pod, container)
}
