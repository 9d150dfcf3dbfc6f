package daemonjob

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

// hasEndedBefore reports whether a job ended under the operator whose kinds these were before, jobflow-operator: its status
// is the state alone. This operator writes nothing without the generation that it is about.
func hasEndedBefore(job *v1alpha1.DaemonJob) bool {
	s := &job.Status
	return (s.State == v1alpha1.StateSucceed || s.State == v1alpha1.StateFailed) &&
		s.ObservedGeneration == 0 && s.StartTime == nil && s.CompletionTime == nil && len(s.Conditions) == 0
}

// takeOver puts it on record that a job has ended, so that it doesn't run again. On which nodes it ran isn't known.
func takeOver(job *v1alpha1.DaemonJob, was v1alpha1.DaemonJobStatus, now metav1.Time) builder.Plan[*v1alpha1.DaemonJob] {
	const text = "the job had ended before this operator took it over; on which nodes isn't known"
	status := was
	status.StartTime, status.CompletionTime = job.CreationTimestamp.DeepCopy(), now.DeepCopy()
	if status.State == v1alpha1.StateSucceed {
		setCondition(&status, job, now, events.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, text)
		setCondition(&status, job, now, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, text)
	} else {
		setCondition(&status, job, now, events.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonJobFailed, text)
		setCondition(&status, job, now, v1alpha1.ConditionFailed, metav1.ConditionTrue, v1alpha1.ReasonJobFailed, text)
		setCondition(&status, job, now, events.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonJobFailed, text)
	}
	return planOf(job, status)
}
