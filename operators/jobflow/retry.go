package jobflow

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// attempt returns the number of the retry that a flow is in, or begins: the one that is asked for takes its turn when the
// one before has failed.
func attempt(flow *v1alpha1.JobFlow) int32 {
	s := &flow.Status
	if s.CompletionTime != nil && s.State == v1alpha1.StateFailed && flow.Spec.Retry > s.Retry && !flow.Spec.Terminate {
		return flow.Spec.Retry
	}
	return s.Retry
}

// beginRetry takes off the record what failed, what never ran, and what is in finally. What was taken out of the spec is
// forgotten. Jobs of earlier attempts have other names, so that this can be cut short anywhere and begun again.
func (p *pass) beginRetry(status *v1alpha1.JobFlowStatus) {
	p.states, p.marks = p.states[:p.size()], p.marks[:p.size()]
	for i, s := range p.states {
		if s != succeeded || i >= p.flows {
			p.states[i], p.marks[i] = pending, mark{}
		}
	}
	p.runLostAgain()
	p.failure, p.stopped = -1, false
	p.recorded = ledger{slices.Clone(p.states), slices.Clone(p.marks), p.width}
	status.Retry = p.retry
	status.CompletionTime = nil
	status.ActiveSince = nil
	status.Outcome = nil
	for _, kind := range []string{
		v1alpha1.ConditionFailed, v1alpha1.ConditionStopped, v1alpha1.ConditionEditRefused, events.ConditionStalled,
	} {
		meta.RemoveStatusCondition(&status.Conditions, kind)
	}
}

// runLostAgain lets what succeeded run again if its output is needed and isn't there: else each retry would fail as the
// one before.
func (p *pass) runLostAgain() {
	for found := true; found; { // what runs again may need outputs that aren't there, too
		found = false
		for _, u := range p.uses {
			name := p.names[u.producer]
			if _, known := p.outputs[name]; known || p.states[u.consumer] == succeeded || p.states[u.producer] == pending {
				continue
			}
			p.states[u.producer], p.marks[u.producer] = pending, mark{}
			delete(p.lost, name)
			found = true
		}
	}
}
