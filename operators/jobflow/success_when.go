package jobflow

import (
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// mayFail reports whether a node's failure is allowed. That of a removed node isn't.
func (p *pass) mayFail(i int) bool { return i < p.Size() && p.node(i).AllowFailure }

// passed reports whether a node has ended so that its dependents without an expression start.
func (p *pass) passed(i int) bool {
	return p.States[i] == record.Succeeded || p.States[i] == record.Failed && p.mayFail(i)
}

// isAllowanceRecorded reports whether the allowed failures of a node's dependencies are recorded. Only then does the node start, so a node
// that has started proves that each dependency has succeeded, or that its failure is recorded. inferEnds relies on it.
func (p *pass) isAllowanceRecorded(i int) bool {
	if p.Whens[int32(i)] != nil {
		return true
	}
	for _, d := range p.Dependencies(i) {
		if p.States[d] == record.Failed && p.recorded.States[d] != record.Failed {
			return false
		}
	}
	return true
}

// flowsFailed returns why spec.flows have failed; an empty reason if they have succeeded.
func (p *pass) flowsFailed() (reason, text string) {
	switch x := p.SuccessWhen; {
	case x != nil:
		ok, err := x.Eval(p.view.Context(), p.ends(x), "")
		if err != nil {
			return v1alpha1.ReasonSuccessWhenFalse, "successWhen: " + err.Error()
		}
		if !ok {
			return v1alpha1.ReasonSuccessWhenFalse, "successWhen is false: " + p.spec.SuccessWhen
		}
	case p.failure >= 0:
		return v1alpha1.ReasonJobFailed, ""
	}
	return "", ""
}

// ends returns how the nodes have ended that successWhen reads.
func (p *pass) ends(x *when.Expression) map[string]when.Job {
	jobs := map[string]when.Job{}
	for _, d := range p.Operands(p.NumFlows, x) {
		jobs[p.Names[d]] = p.endOfNode(int(d))
	}
	return jobs
}

// endOfNode returns how a node has ended, as expressions read it.
func (p *pass) endOfNode(i int) when.Job {
	return when.Job{Succeeded: p.States[i] == record.Succeeded, Failed: p.States[i] == record.Failed, Skipped: p.States[i] == record.Skipped}
}

// failureCounts reports whether a node has failed so that the flow fails.
func (p *pass) failureCounts(i int) bool {
	return p.States[i] == record.Failed && !p.mayFail(i) && (p.SuccessWhen == nil || !p.isFlow(i))
}

// whyFailed returns why a flow that has ended has failed; an empty reason if it has succeeded. A flow that was stopped has failed.
func (p *pass) whyFailed(d *decision, status *v1alpha1.JobFlowStatus) (reason, text string) {
	if d.stopped {
		stopped := p.conditions(status).Find(v1alpha1.ConditionStopped)
		return stopped.Reason, stopped.Message
	}
	counts := p.failureCounts
	reason, text = p.flowsFailed()
	if reason == v1alpha1.ReasonSuccessWhenFalse { // then any failure may be the cause
		counts = func(i int) bool { return p.States[i] == record.Failed && !p.mayFail(i) }
	}
	failures := p.failures(status, counts)
	switch {
	case failures == "":
	case reason == v1alpha1.ReasonSuccessWhenFalse:
		text = message.CutJSON(text+"; "+failures, maxMessage)
	default:
		reason, text = v1alpha1.ReasonJobFailed, failures
	}
	return reason, text
}

// failures lists the nodes whose failures count, and why they failed if that is known.
func (p *pass) failures(status *v1alpha1.JobFlowStatus, counts func(i int) bool) string {
	messages := make(map[string]string, len(status.Flows))
	for i := range status.Flows {
		messages[status.Flows[i].Name] = status.Flows[i].Message
	}
	var bad []string
	for i := range p.States {
		if counts(i) {
			bad = append(bad, failure(p.nameOf(i), messages[p.nameOf(i)]))
		}
	}
	return enumerate(bad, strings.Clone)
}

// failure describes the failure of a node.
func failure(name, text string) string {
	return strings.TrimSuffix(name+" failed: "+text, ": ")
}
