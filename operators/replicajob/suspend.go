package replicajob

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

// isSuspended reports whether the status records that the job is suspended, or is being suspended.
func (p *pass) isSuspended() bool {
	c := lifecycle.Condition(p.last.Conditions, v1alpha1.ConditionSuspended)
	return c.Status == metav1.ConditionTrue || c.Reason == v1alpha1.ReasonSuspending
}

// setSuspended sets the state and the conditions of a job that is suspended, or that is resumed once its old pods are gone: none of
// them may be taken for one that is created after the resume. What has succeeded runs again; restarts stay counted.
func (p *pass) setSuspended(s *v1alpha1.ReplicaJobStatus, o *observed, d decision) {
	const reason = "runPolicy.suspend is true"
	left := len(o.pods())
	switch {
	case d.action == actionSuspend:
		s.StartTime = nil
		p.setCreated(s)
		if left > 0 {
			p.setSuspending(s, reason, left)
		} else {
			p.setWithoutPods(s, reason)
		}
	case d.problem == nil:
		p.setSuspending(s, "the job is resumed once its old pods are gone", left)
	default:
		return
	}
	for name, rs := range s.ReplicaStatuses {
		rs.Pending, rs.Succeeded, rs.Failed, rs.SucceededIndexes = 0, 0, 0, ""
		s.ReplicaStatuses[name] = rs
	}
}

// setSuspending sets the conditions of a job whose pods are being stopped. The state changes once they are gone: they may still run.
func (p *pass) setSuspending(s *v1alpha1.ReplicaJobStatus, why string, pods int) {
	conditions := p.conditions(s)
	verb := " are"
	if pods == 1 {
		verb = " is"
	}
	why += "; " + message.Count(pods, "pod") + verb + " being stopped"
	if !conditions.IsTrue(v1alpha1.ConditionSuspended) {
		conditions.Set(v1alpha1.ConditionSuspended, false, v1alpha1.ReasonSuspending, why)
	}
	conditions.Set(events.ConditionReady, false, v1alpha1.ReasonSuspending, why)
}

// setWithoutPods sets the state and the conditions of a suspended job whose pods are gone.
func (p *pass) setWithoutPods(s *v1alpha1.ReplicaJobStatus, why string) {
	conditions := p.conditions(s)
	s.State = v1alpha1.ReplicaJobSuspended
	conditions.Set(v1alpha1.ConditionSuspended, true, v1alpha1.ReasonSuspended, why)
	for _, kind := range []string{v1alpha1.ConditionRunning, v1alpha1.ConditionRestarting} {
		if conditions.IsTrue(kind) {
			conditions.Set(kind, false, v1alpha1.ReasonSuspended, "the job is suspended")
		}
	}
	conditions.Set(events.ConditionReady, false, v1alpha1.ReasonSuspended, why)
}
