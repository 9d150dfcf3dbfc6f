package jobflow

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
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
	p.States, p.Digests = p.States[:p.Size()], p.Digests[:p.Size()]
	for i, s := range p.States {
		if s != record.Succeeded || i >= p.NumFlows {
			p.States[i], p.Digests[i] = record.Pending, record.NodeDigest{}
		}
	}
	p.runLostAgain()
	p.failure, p.stopped = -1, false
	p.recorded = p.Record.Clone()
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
		for _, u := range p.OutputUses {
			name := p.Names[u.Producer]
			if _, known := p.outputs[name]; known || p.States[u.Consumer] == record.Succeeded || p.States[u.Producer] == record.Pending {
				continue
			}
			p.States[u.Producer], p.Digests[u.Producer] = record.Pending, record.NodeDigest{}
			delete(p.lost, name)
			found = true
		}
	}
}
