package jobflow

import (
	"slices"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// endedUnderFormerOperator reports whether a flow ended under jobflow-operator, the former operator of the kind: its status has only a
// state. This operator writes no status without an observedGeneration.
func endedUnderFormerOperator(flow *v1alpha1.JobFlow) bool {
	s := &flow.Status
	return (s.State == v1alpha1.StateSucceed || s.State == v1alpha1.StateFailed) &&
		s.ObservedGeneration == 0 && s.StartTime == nil && s.CompletionTime == nil && len(s.Conditions) == 0
}

// planTakeover returns the plan that records the end of a flow of the former operator, so that none of it runs again. Jobs that still
// exist determine how their nodes have ended. In a failed flow, a node without a Job was never started if another one is known to have
// failed.
func (p *pass) planTakeover() builder.Plan[*v1alpha1.JobFlow] {
	p.observe()
	as, why := record.Succeeded, "it had ended before this operator took the flow over, and its Job is gone"
	switch {
	case p.flow.Status.State == v1alpha1.StateSucceed:
	case p.failure >= 0:
		as, why = record.Skipped, "it had not been started when this operator took the failed flow over"
	default:
		as, why = record.Failed, "the flow had failed before this operator took it over, and its Jobs are gone"
	}
	for i := range p.States {
		if !p.States[i].HasEnded() && p.jobs[i] == nil {
			p.end(i, as, finding{message: why})
		}
	}
	p.urgent = true
	return p.plan()
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
