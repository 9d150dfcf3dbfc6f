package jobflow

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// currentRetry returns the retry that a flow is in, or begins: spec.retry takes effect once the flow has failed.
func currentRetry(flow *v1alpha1.JobFlow) int32 {
	s := &flow.Status
	if s.CompletionTime != nil && s.State == v1alpha1.StateFailed && flow.Spec.Retry > s.Retry && !flow.Spec.Terminate {
		return flow.Spec.Retry
	}
	return s.Retry
}

// beginRetry resets what the status records of nodes that failed or never ran, of those in finally and of removed ones, and of the flow.
// Jobs of earlier retries have other names, so a crash at any time leaves nothing that the retry could take for its own.
func (p *pass) beginRetry() {
	r := &p.recorded
	r.States, r.Digests = r.States[:p.Size()], r.Digests[:p.Size()]
	for i, s := range r.States {
		if s != record.Succeeded || i >= p.NumFlows {
			r.States[i], r.Digests[i] = record.Pending, record.NodeDigest{}
		}
	}
	p.resetLost()
	p.last.Retry = p.retry
	p.last.CompletionTime, p.last.ActiveSince, p.last.Outcome = nil, nil, nil
	p.last.Conditions = slices.Clone(p.last.Conditions)
	for _, kind := range []string{
		v1alpha1.ConditionFailed, v1alpha1.ConditionStopped, v1alpha1.ConditionEditRefused, events.ConditionStalled,
	} {
		meta.RemoveStatusCondition(&p.last.Conditions, kind)
	}
}

// resetLost resets nodes that succeeded and whose output is lost, if a node that runs again needs it: otherwise each retry would fail for
// want of it.
func (p *pass) resetLost() {
	r := &p.recorded
	for found := true; found; { // a node that is reset may need outputs that are lost, too
		found = false
		for _, u := range p.OutputUses {
			name := p.Names[u.Producer]
			o, known := p.outputs[name]
			if known && o.Lost == "" || r.States[u.Consumer] == record.Succeeded || r.States[u.Producer] == record.Pending {
				continue
			}
			r.States[u.Producer], r.Digests[u.Producer] = record.Pending, record.NodeDigest{}
			delete(p.outputs, name)
			found = true
		}
	}
}
