package jobflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// status returns the status that follows from the states of the nodes and the decision.
func (p *pass) status(o *observed, d *decision) *v1alpha1.JobFlowStatus {
	status := copyOf(&p.last)
	p.setStart(o, status)
	if d.stopReason != "" {
		p.conditions(status).Set(v1alpha1.ConditionStopped, true, d.stopReason, d.stopMessage)
	}
	p.setEditRefused(o, status)
	status.Outcome = cmp.Or(d.outcome, status.Outcome)
	p.Record.Write(status)
	status.Counts = p.counts(o)
	status.Flows = p.details(o)
	status.Items = p.recordedItems(o)
	status.Outputs = p.outputs.Record(p.neededOutputs(), p.flow.Status.Outputs, limitsFor(p.Size()).outputs)
	ended := status.Counts.Succeeded + status.Counts.Failed + status.Counts.Skipped
	status.Progress = fmt.Sprintf("%d/%d", ended, status.Counts.Total)
	status.Current = p.current(o)

	switch {
	case ended == status.Counts.Total && (p.isValid() || d.stopped) && !p.waitsForStopped(o, d):
		p.setEnd(d, status)
	case !p.isValid():
		p.setInvalid(status)
	default:
		p.setProgress(status)
	}
	return status
}

// setEnd sets the state and the conditions of a flow that ends.
func (p *pass) setEnd(d *decision, status *v1alpha1.JobFlowStatus) {
	status.CompletionTime = p.completionTime(status)
	p.requeueIn(p.nextAfterEnd(status))
	p.conditions(status).RemoveInvalid()
	reason, text := p.whyFailed(d, status)
	if reason == "" {
		status.State = v1alpha1.StateSucceed
		text = endMessage(status.Counts)
		p.conditions(status).Set(events.ConditionReady, true, v1alpha1.ReasonSucceeded, text)
		p.conditions(status).Set(v1alpha1.ConditionSucceeded, true, v1alpha1.ReasonSucceeded, text)
		return
	}
	status.State = v1alpha1.StateFailed
	p.conditions(status).Stall(reason, text)
	p.conditions(status).Set(v1alpha1.ConditionFailed, true, reason, text)
}

// nextAfterEnd returns the time until the first action after the end: a retry, or a deletion. 0: there is none.
func (p *pass) nextAfterEnd(status *v1alpha1.JobFlowStatus) time.Duration {
	retention, ttl := p.spec.JobRetention, p.spec.TTLSecondsAfterFinished
	switch {
	case p.spec.Retry > p.retry, retention != "" && retention != v1alpha1.RetainAll:
		return lifecycle.Shortly
	case ttl != nil:
		return max(lifecycle.Expiry(status.CompletionTime, status.Conditions, ttl, p.now.Time).Left, lifecycle.Shortly)
	default:
		return 0
	}
}

// setInvalid sets the state and the conditions of a flow whose spec is invalid. Jobs that were created before run on, and their ends are
// recorded.
func (p *pass) setInvalid(status *v1alpha1.JobFlowStatus) {
	text := enumerate(p.Problems, graph.Problem.String)
	if status.StartTime == nil {
		status.State = v1alpha1.StateFailed
		p.conditions(status).Set(v1alpha1.ConditionFailed, true, v1alpha1.ReasonInvalidSpec, text)
	} else {
		status.State = p.stateUnderWay(status.Counts)
		p.conditions(status).Remove(v1alpha1.ConditionFailed, v1alpha1.ReasonInvalidSpec)
	}
	p.conditions(status).Stall(v1alpha1.ReasonInvalidSpec, text)
}

// setProgress sets the state and the conditions of a flow that hasn't ended.
func (p *pass) setProgress(status *v1alpha1.JobFlowStatus) {
	p.conditions(status).RemoveInvalid()
	status.State = p.stateUnderWay(status.Counts)
	reason, text := string(status.State), progressMessage(status.Counts)
	switch {
	case p.spec.Suspend:
		text = "spec.suspend is true; " + text
	case len(p.blockers) > 0:
		reason = p.blockers[0].reason
		text = enumerate(p.blockers, blocker.String)
	}
	p.conditions(status).Set(events.ConditionReady, false, reason, text)
}

// stateUnderWay returns the state of a flow that hasn't ended, which is also the reason of its condition Ready.
func (p *pass) stateUnderWay(c v1alpha1.FlowCounts) v1alpha1.State {
	switch {
	case p.spec.Suspend:
		return v1alpha1.StateSuspended
	case c.Running+c.Suspended+c.Succeeded+c.Failed == 0:
		return v1alpha1.StatePending
	default:
		return v1alpha1.StateRunning
	}
}

// counts returns how many nodes are in which state.
func (p *pass) counts(o *observed) v1alpha1.FlowCounts {
	var n [record.Skipped + 1]int32
	var suspended int32
	for i, s := range p.States {
		n[s]++
		if p.isSuspended(o, i) {
			suspended++
		}
	}
	return v1alpha1.FlowCounts{
		Total: int32(len(p.States)), Pending: n[record.Pending], Running: n[record.Running] - suspended, Suspended: suspended,
		Succeeded: n[record.Succeeded], Failed: n[record.Failed], Skipped: n[record.Skipped],
	}
}

// current names the nodes that run, up to maxCurrent bytes, and counts the others.
func (p *pass) current(o *observed) string {
	var b strings.Builder
	more := 0
	for i, s := range p.States {
		if s != record.Running || p.isSuspended(o, i) {
			continue
		}
		name := p.nameOf(i)
		if b.Len()+len(name) > maxCurrent {
			more++
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name)
	}
	if more > 0 {
		fmt.Fprintf(&b, ",+%d", more)
	}
	return b.String()
}

// neededOutputs returns the nodes whose outputs another node may still need.
func (p *pass) neededOutputs() []string {
	needed := map[int32]bool{}
	for _, u := range p.OutputUses {
		if p.States[u.Consumer] != record.Succeeded || !p.isFlow(int(u.Consumer)) { // finally runs again with each retry
			needed[u.Producer] = true
		}
	}
	var names []string
	for i, name := range p.Names {
		if needed[int32(i)] {
			names = append(names, name)
		}
	}
	return names
}

// completionTime returns when the last Job ended; this pass only observes it later.
func (p *pass) completionTime(status *v1alpha1.JobFlowStatus) *metav1.Time {
	var last *metav1.Time
	later := func(t *metav1.Time) {
		if t != nil && (last == nil || last.Before(t)) {
			last = t
		}
	}
	for _, n := range p.findings {
		later(n.ended)
	}
	for i := range status.Flows {
		later(status.Flows[i].CompletionTime)
	}
	if last == nil || p.now.Before(last) {
		last = &p.now
	}
	later(status.StartTime) // the clock that set the Jobs' times may be behind
	return last
}

// onlyCountsChanged reports whether two statuses differ only in how many nodes are in which state, and which. All else is written at
// once: events are on transitions of the status, and lists of blockers are in messages.
func onlyCountsChanged(before, after *v1alpha1.JobFlowStatus) bool {
	return equality.Semantic.DeepEqual(withoutCounts(before), withoutCounts(after))
}

// withoutCounts returns a status without the states of nodes.
func withoutCounts(s *v1alpha1.JobFlowStatus) *v1alpha1.JobFlowStatus {
	c := copyOf(s)
	c.Progress, c.Current, c.Counts = "", "", v1alpha1.FlowCounts{}
	c.Finished, c.Failed, c.Skipped, c.NodeDigests = "", "", "", ""
	c.Flows, c.Items = nil, nil
	for i := range c.Conditions {
		if c.Conditions[i].Type == events.ConditionReady && c.Conditions[i].Reason == v1alpha1.ReasonRunning {
			c.Conditions[i].Message = ""
		}
	}
	return c
}

// copyOf returns a copy of a status, whose fields and conditions may be set; everything else is shared.
func copyOf(s *v1alpha1.JobFlowStatus) *v1alpha1.JobFlowStatus {
	c := *s
	c.Conditions = slices.Clone(s.Conditions)
	return &c
}

// conditionOrder is the order in which conditions are listed.
var conditionOrder = []string{
	events.ConditionReady, events.ConditionStalled, v1alpha1.ConditionSucceeded, v1alpha1.ConditionFailed,
	v1alpha1.ConditionStopped, v1alpha1.ConditionSuspended, v1alpha1.ConditionEditRefused,
}

func sortConditions(conditions []metav1.Condition) {
	slices.SortStableFunc(conditions, func(a, b metav1.Condition) int {
		return cmp.Compare(slices.Index(conditionOrder, a.Type), slices.Index(conditionOrder, b.Type))
	})
}

// conditions returns the conditions of a new status of the flow.
func (p *pass) conditions(status *v1alpha1.JobFlowStatus) lifecycle.Conditions {
	return lifecycle.ConditionsOf(&status.Conditions, p.flow.Generation, p.now)
}

func progressMessage(c v1alpha1.FlowCounts) string {
	text := fmt.Sprintf("%d of %d succeeded, %d running, %d pending", c.Succeeded, c.Total, c.Running, c.Pending)
	if c.Suspended > 0 {
		text += fmt.Sprintf(", %d suspended", c.Suspended)
	}
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}

func endMessage(c v1alpha1.FlowCounts) string {
	switch {
	case c.Skipped+c.Failed > 0:
		text := fmt.Sprintf("%d flows succeeded", c.Succeeded)
		if c.Failed > 0 {
			text += fmt.Sprintf(", %d failed without failing the JobFlow", c.Failed)
		}
		if c.Skipped > 0 {
			text += fmt.Sprintf(", %d were skipped", c.Skipped)
		}
		return text
	case c.Total == 1:
		return "the only flow succeeded"
	default:
		return fmt.Sprintf("all %d flows succeeded", c.Total)
	}
}

// clearFormerNames clears the former names of fields, which versions before v0.1.0 wrote: see api/v1alpha1/takeover.go.
func clearFormerNames(status *v1alpha1.JobFlowStatus) {
	status.Marks = ""
	if slices.ContainsFunc(status.Items, func(s v1alpha1.ItemsStatus) bool { return s.Of != "" }) {
		status.Items = slices.Clone(status.Items)
		for i := range status.Items {
			status.Items[i].Of = ""
		}
	}
}
