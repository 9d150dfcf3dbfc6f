package outcome

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Phase is where a Job is.
type Phase int

const (
	// Running means that the Job hasn't ended. It may be suspended, waiting for a node, or about to end.
	Running Phase = iota
	// Succeeded means that the Job is complete, as the Job counts it (completions, success policy).
	Succeeded
	// Failed means that the Job has failed for good, after its own retries.
	Failed
)

// Outcome is a Job's end, as far as it has come.
type Outcome struct {
	Phase Phase
	// Reason and Message are why the Job failed, in the Job controller's words. Empty otherwise.
	Reason, Message string
	// Ended is when the Job ended. Nil before.
	Ended *metav1.Time
}

// Why says why a Job failed, by its reason and message as far as it has them. Empty if it has neither.
func (o Outcome) Why() string {
	if o.Reason == "" || o.Message == "" {
		return o.Reason + o.Message
	}
	return o.Reason + ": " + o.Message
}

// Of returns a Job's outcome. Only the final conditions count: SuccessCriteriaMet and FailureTarget announce an end
// while pods are still running.
func Of(job *batchv1.Job) Outcome {
	if c := Condition(job, batchv1.JobComplete); c != nil {
		return Outcome{Phase: Succeeded, Ended: cmp.Or(job.Status.CompletionTime, &c.LastTransitionTime)}
	}
	if c := Condition(job, batchv1.JobFailed); c != nil {
		return Outcome{Phase: Failed, Reason: c.Reason, Message: c.Message, Ended: &c.LastTransitionTime}
	}
	return Outcome{}
}
