package watchcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// replicaPicture shows a ReplicaJob with a row for each type of replicas.
func replicaPicture(job *v1alpha1.ReplicaJob, now time.Time) picture {
	s := &job.Status
	p := picture{
		state: string(s.State), elapsed: since(s.StartTime, s.CompletionTime, now), problem: problem(s.Conditions),
		heads: [2]string{"REPLICAS"},
	}
	for _, name := range slices.Sorted(maps.Keys(job.Spec.ReplicaSpecs)) {
		spec := job.Spec.ReplicaSpecs[name]
		is, all := s.ReplicaStatuses[name], ptr.Deref(spec.Replicas, 1)
		p.tally.total += int(all)
		p.tally.done += int(is.Succeeded)
		p.tally.bad += int(is.Failed)
		r := row{
			name: fmt.Sprintf("%s x%d", name, all), state: stateOf(is, all, s.CompletionTime != nil),
			counts: true, attempt: s.Restarts, pods: is.Selector,
		}
		if s.CompletionTime == nil {
			p.tally.runs += int(is.Active)
			r.message = sum(some(is.Succeeded, "succeeded"), some(is.Active, "active"), some(is.Failed, "failed"),
				some(is.Pending, "pending"), some(is.Restarts, "restarted"))
		} else {
			left := all - is.Succeeded - is.Failed // which the end of the job has stopped
			p.tally.skipped += int(max(0, left))
			r.message = sum(some(is.Succeeded, "succeeded"), some(is.Failed, "failed"), some(left, "stopped"), some(is.Restarts, "restarted"))
		}
		p.rows = append(p.rows, r)
	}
	if s.ObservedGeneration == job.Generation {
		p.failed = s.State == v1alpha1.ReplicaJobFailed || isInvalid(s.Conditions)
		p.over = p.failed || s.State == v1alpha1.ReplicaJobSucceeded
	}
	return p
}

// stateOf sums up the replicas of a type. Those that a job stops at its end have neither succeeded nor failed.
func stateOf(is v1alpha1.ReplicaStatus, all int32, over bool) v1alpha1.FlowState {
	switch {
	case is.Failed > 0:
		return v1alpha1.FlowFailed
	case is.Succeeded == all:
		return v1alpha1.FlowSucceed
	case over:
		return v1alpha1.FlowSkipped
	case is.Active > 0:
		return v1alpha1.FlowRunning
	default:
		return v1alpha1.FlowPending
	}
}

// some counts something, if there is any.
func some(n int32, what string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// sum lists the counts that are not empty.
func sum(counts ...string) string {
	return strings.Join(slices.DeleteFunc(counts, func(s string) bool { return s == "" }), ", ")
}
