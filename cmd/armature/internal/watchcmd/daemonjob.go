package watchcmd

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// daemonPicture shows a DaemonJob with the counts of its nodes, and a row for each failed node in its status.
func daemonPicture(job *v1alpha1.DaemonJob, now time.Time) picture {
	s := &job.Status
	p := picture{
		state: string(s.State), elapsed: since(s.StartTime, s.CompletionTime, now), problem: problem(s.Conditions),
		heads: [2]string{"NODE"},
		tally: tally{done: int(s.Succeeded), skipped: int(s.Skipped), bad: int(s.Failed), runs: int(s.Active), total: int(s.Desired)},
	}
	nodes := row{name: "all nodes", state: v1alpha1.FlowPending, counts: true, message: sum(
		some(s.Succeeded, "succeeded"), some(s.Active, "active"), some(s.Suspended, "suspended"),
		some(s.Failed, "failed"), some(s.Waiting, "waiting"), some(s.Skipped, "skipped"),
		some(s.Desired-s.Succeeded-s.Active-s.Suspended-s.Failed-s.Waiting-s.Skipped, "to come"))}
	switch {
	case s.State == v1alpha1.StateSucceed:
		nodes.state = v1alpha1.FlowSucceed
	case s.StartTime != nil && s.CompletionTime == nil:
		nodes.state = v1alpha1.FlowRunning
	case s.CompletionTime != nil:
		nodes.state = v1alpha1.FlowFailed
	}
	p.rows = append(p.rows, nodes)
	for _, f := range s.Failures {
		r := row{
			name: f.Node, state: v1alpha1.FlowFailed, message: f.Message, attempt: s.Retry,
			pods: fmt.Sprintf("%s=%s", batchv1.JobNameLabel, f.Job),
		}
		p.rows = append(p.rows, r)
	}
	if s.ObservedGeneration == job.Generation {
		p.over, p.failed = ended(s.State, job.Spec.Retry > s.Retry)
		active := s.Active
		if !job.Spec.Suspend { // the operator or a queue resumes them
			active += s.Suspended
		}
		p.endIfInvalid(s.Conditions, active)
	}
	return p
}
