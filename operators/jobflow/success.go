package jobflow

import (
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// mayFail reports whether a node's failure is allowed. One that isn't in the spec any more isn't there to say so.
func (p *pass) mayFail(i int) bool { return i < p.size() && p.node(i).AllowFailure }

// passed reports whether a node has ended so that those that depend on it start, unless their expressions say otherwise.
func (p *pass) passed(i int) bool {
	return p.states[i] == succeeded || p.states[i] == failed && p.mayFail(i)
}

// isAllowanceOnRecord reports whether the failures of dependencies that are allowed are on record. Only then is a node
// started that relies on them: whatever has been started shows that what it depends on has succeeded, or has failed and
// is on record. See inferEnds.
func (p *pass) isAllowanceOnRecord(i int) bool {
	if p.whens[int32(i)] != nil {
		return true
	}
	for _, d := range p.dependencies(i) {
		if p.states[d] == failed && p.recorded.states[d] != failed {
			return false
		}
	}
	return true
}

// flowsFailed says why what comes before finally has failed. An empty reason says that it has succeeded.
func (p *pass) flowsFailed() (reason, message string) {
	switch x := p.success; {
	case x != nil:
		ok, err := x.Eval(p.seen.Context(), p.ends(x), "")
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
	for _, d := range p.seenBy(p.flows, x) {
		jobs[p.names[d]] = p.endOfNode(int(d))
	}
	return jobs
}

// endOfNode is how a node has ended, as expressions see it.
func (p *pass) endOfNode(i int) when.Job {
	return when.Job{Succeeded: p.states[i] == succeeded, Failed: p.states[i] == failed, Skipped: p.states[i] == skipped}
}

// failureCounts reports whether a node has failed, and the flow with it.
func (p *pass) failureCounts(i int) bool {
	return p.states[i] == failed && !p.mayFail(i) && (p.success == nil || !p.isFlow(i))
}

// compileSuccess compiles successWhen, which sees all nodes but those in finally.
func (c *compiled) compileSuccess(spec *v1alpha1.JobFlowSpec) field.ErrorList {
	if spec.SuccessWhen == "" {
		return nil
	}
	if utf8.RuneCountInString(spec.SuccessWhen) > maxText {
		return field.ErrorList{field.TooLong(field.NewPath("spec", "successWhen"), "", maxText)}
	}
	x, err := when.Compile(spec.SuccessWhen, when.Scope{
		Has:     func(name string) bool { _, ok := c.before(c.flows, name); return ok },
		Jobs:    c.flows,
		Success: true,
	})
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "successWhen"), spec.SuccessWhen, err.Error())}
	}
	c.success = x
	return nil
}
