package jobflow

import (
	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// mayFail reports whether a node's failure is allowed. One that isn't in the spec any more isn't there to say so.
func (p *pass) mayFail(i int) bool { return i < p.Size() && p.node(i).AllowFailure }

// passed reports whether a node has ended so that those that depend on it start, unless their expressions say otherwise.
func (p *pass) passed(i int) bool {
	return p.States[i] == record.Succeeded || p.States[i] == record.Failed && p.mayFail(i)
}

// isAllowanceRecorded reports whether the failures of dependencies that are allowed are on record. Only then is a node
// started that relies on them: whatever has been started shows that what it depends on has succeeded, or has failed and
// is on record. See inferEnds.
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

// flowsFailed says why what comes before finally has failed. An empty reason says that it has succeeded.
func (p *pass) flowsFailed() (reason, message string) {
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

// ends are how the nodes have ended that successWhen looks at.
func (p *pass) ends(x *when.Expression) map[string]when.Job {
	jobs := map[string]when.Job{}
	for _, d := range p.Operands(p.NumFlows, x) {
		jobs[p.Names[d]] = p.endOfNode(int(d))
	}
	return jobs
}

// endOfNode is how a node has ended, as expressions see it.
func (p *pass) endOfNode(i int) when.Job {
	return when.Job{Succeeded: p.States[i] == record.Succeeded, Failed: p.States[i] == record.Failed, Skipped: p.States[i] == record.Skipped}
}

// failureCounts reports whether a node has failed, and the flow with it.
func (p *pass) failureCounts(i int) bool {
	return p.States[i] == record.Failed && !p.mayFail(i) && (p.SuccessWhen == nil || !p.isFlow(i))
}
