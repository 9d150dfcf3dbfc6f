package daemonjob

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// endedUnderFormerOperator reports whether a job ended under jobflow-operator, the former operator of the kind: its status has only a
// state. This operator writes no status without an observedGeneration.
func endedUnderFormerOperator(job *v1alpha1.DaemonJob) bool {
	s := &job.Status
	return (s.State == v1alpha1.StateSucceed || s.State == v1alpha1.StateFailed) &&
		s.ObservedGeneration == 0 && s.StartTime == nil && s.CompletionTime == nil && len(s.Conditions) == 0
}

// planTakeover returns the plan that records the end of a job of the former operator, so that it doesn't run again. The nodes that it
// ran on are unknown.
func (p *pass) planTakeover() builder.Plan[*v1alpha1.DaemonJob] {
	const text = "the job had ended before this operator took it over; on which nodes isn't known"
	status := p.last
	status.StartTime, status.CompletionTime = p.job.CreationTimestamp.DeepCopy(), p.now.DeepCopy()
	kind, reason := v1alpha1.ConditionSucceeded, v1alpha1.ReasonSucceeded
	if status.State == v1alpha1.StateFailed {
		kind, reason = v1alpha1.ConditionFailed, v1alpha1.ReasonJobFailed
	}
	conditions := p.conditions(&status)
	conditions.Set(kind, metav1.ConditionTrue, reason, text)
	conditions.Conclude()
	return p.planStatus(status)
}
