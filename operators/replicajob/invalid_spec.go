package replicajob

import (
	"github.com/armature-dev/armature/api/v1alpha1"
)

// setHeld sets the state of a job that can't start. An invalid spec makes it Failed until someone fixes the spec: completionTime
// isn't set. The state of a job that has started before stays.
func (p *pass) setHeld(s *v1alpha1.ReplicaJobStatus, d decision) {
	switch conditions := p.conditions(s); {
	case p.last.StartTime != nil || p.isSuspended():
	case d.problem.reason == v1alpha1.ReasonInvalidSpec:
		s.State = v1alpha1.ReplicaJobFailed
		conditions.SetBool(v1alpha1.ConditionFailed, true, d.problem.reason, d.problem.message)
	default:
		s.State = v1alpha1.ReplicaJobCreated
		conditions.Remove(v1alpha1.ConditionFailed, v1alpha1.ReasonInvalidSpec)
	}
}

// evaluable returns the success rule and the failures of a job that runs and whose spec can't be carried out, as far as the spec
// still says what they are.
func (p *pass) evaluable(o *observed) (rule successRule, failures []*failure) {
	if !p.hasRecordedTypes() {
		return // a missing type may just have another name now
	}
	if len(p.validateSuccess(nil)) == 0 {
		rule = p.successRule(o)
	}
	if len(p.validateFailure(nil)) == 0 {
		failures = p.failures(o)
	}
	return
}

// hasRecordedTypes reports whether the spec has the types of replicas that the status records.
func (p *pass) hasRecordedTypes() bool {
	for t := range p.last.ReplicaStatuses {
		if p.lacks(t) {
			return false
		}
	}
	return len(p.last.ReplicaStatuses) == len(p.spec.ReplicaSpecs)
}
