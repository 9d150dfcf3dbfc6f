package watchcmd

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/flowstate"
	"github.com/armature-dev/armature/operators/jobflow"
)

// flowPicture shows a JobFlow with a row for each node.
func flowPicture(flow *v1alpha1.JobFlow, now time.Time) picture {
	s := &flow.Status
	p := picture{
		state: string(s.State), elapsed: since(s.StartTime, s.CompletionTime, now), problem: problem(s.Conditions),
		heads: [2]string{"FLOW", "AFTER"}, rows: flowRows(flow, now),
	}
	p.tally = count(p.rows)
	if s.ObservedGeneration == flow.Generation {
		p.over, p.failed = ended(s.State, flow.Spec.Retry > s.Retry && !flow.Spec.Terminate)
		active := s.Counts.Running
		if !flow.Spec.Suspend { // the operator or a queue resumes them
			active += s.Counts.Suspended
		}
		p.endIfInvalid(s.Conditions, active)
	}
	return p
}

// ended reports whether a flow or a DaemonJob has ended, and badly, unless it is about to be retried.
func ended(state v1alpha1.State, retries bool) (over, failed bool) {
	failed = state == v1alpha1.StateFailed && !retries
	return failed || state == v1alpha1.StateSucceed, failed
}

// afterAll stands for what a node of finally runs after.
const afterAll = "(finally)"

// flowRows lists the nodes in the order of the spec, those in finally last.
func flowRows(flow *v1alpha1.JobFlow, now time.Time) []row {
	all := make([]row, 0, len(flow.Spec.Flows)+len(flow.Spec.Finally))
	for _, f := range flow.Spec.Flows {
		all = append(all, row{name: f.Name, after: strings.Join(f.Dependencies, ",")})
	}
	for _, f := range flow.Spec.Finally {
		all = append(all, row{name: f.Name, after: afterAll})
	}
	nodes := slices.Concat(flow.Spec.Flows, flow.Spec.Finally)
	for i, s := range flowstate.Of(flow) {
		r := &all[i]
		r.state, r.message, r.attempt = s.State, s.Message, s.Attempts
		if r.state == v1alpha1.FlowFailed && nodes[i].AllowFailure {
			r.message = strings.TrimSuffix("may fail: "+r.message, ": ")
		}
		if flow.Status.StartTime != nil {
			r.runs(flow.Status.StartTime.Time, s.StartTime, s.CompletionTime, now)
		}
		if r.state == v1alpha1.FlowFailed {
			r.pods = labels.SelectorFromSet(jobflow.PodLabels(flow, s.Name)).String()
		}
	}
	return all
}
