package jobflow

import (
	"slices"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// hasEndedBefore reports whether a flow ended under the operator whose kinds these were before, jobflow-operator: its status
// is the state alone. This operator writes nothing without the generation that it is about.
func hasEndedBefore(flow *v1alpha1.JobFlow) bool {
	s := &flow.Status
	return (s.State == v1alpha1.StateSucceed || s.State == v1alpha1.StateFailed) &&
		s.ObservedGeneration == 0 && s.StartTime == nil && s.CompletionTime == nil && len(s.Conditions) == 0
}

// takeOver puts it on record that a flow has ended, so that nothing of it runs again. What its Jobs say holds, as far as they
// are still there. Of a flow that failed, what has no Job was never started if another one is known to have failed.
func (p *pass) takeOver(status *v1alpha1.JobFlowStatus) builder.Plan[*v1alpha1.JobFlow] {
	status.StartTime = p.flow.CreationTimestamp.DeepCopy()
	p.observe()
	as, why := record.Succeeded, "it had ended before this operator took the flow over, and its Job is gone"
	switch {
	case status.State == v1alpha1.StateSucceed:
	case p.failure >= 0:
		as, why = record.Skipped, "it had not been started when this operator took the failed flow over"
	default:
		as, why = record.Failed, "the flow had failed before this operator took it over, and its Jobs are gone"
	}
	for i := range p.States {
		if !p.States[i].HasEnded() && p.jobs[i] == nil {
			p.end(i, as, news{message: why})
		}
	}
	p.urgent = true
	return p.conclude(status)
}

// clearFormerNames clears the fields under whose former names a version before v0.1.0 wrote what is under the new names now:
// see api/v1alpha1/takeover.go.
func clearFormerNames(status *v1alpha1.JobFlowStatus) {
	status.Marks = ""
	if slices.ContainsFunc(status.Items, func(s v1alpha1.ItemsStatus) bool { return s.Of != "" }) {
		status.Items = slices.Clone(status.Items)
		for i := range status.Items {
			status.Items[i].Of = ""
		}
	}
}
