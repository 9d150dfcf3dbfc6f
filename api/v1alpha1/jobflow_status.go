package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State sums up how far a batch is, in one word.
// +kubebuilder:validation:Enum=Pending;Running;Succeed;Failed;Terminating
type State string

// The states of a batch.
const (
	// StatePending: nothing has been started yet.
	StatePending State = "Pending"
	// StateRunning: something has been started, and something has not ended.
	StateRunning State = "Running"
	// StateSucceed: everything has succeeded. This is final.
	StateSucceed State = "Succeed"
	// StateFailed: everything has ended, and something failed, which is final; or the spec is invalid and nothing was
	// ever started, which a change of the spec can mend.
	StateFailed State = "Failed"
	// StateTerminating: the batch is being deleted.
	StateTerminating State = "Terminating"
)

// FlowState is the state of one flow of a JobFlow.
// +kubebuilder:validation:Enum=Pending;Running;Succeed;Failed;Skipped
type FlowState string

// The states of a flow.
const (
	// FlowPending: there is no Job yet.
	FlowPending FlowState = "Pending"
	// FlowRunning: there is a Job, and it hasn't ended.
	FlowRunning FlowState = "Running"
	// FlowSucceed: the Job completed. This is final.
	FlowSucceed FlowState = "Succeed"
	// FlowFailed: the Job failed. This is final.
	FlowFailed FlowState = "Failed"
	// FlowSkipped: there will be no Job, because something that the flow depends on failed.
	FlowSkipped FlowState = "Skipped"
)

// Types of a JobFlow's conditions, besides Ready and Stalled.
const (
	// ConditionSucceeded is True once every Job has succeeded.
	ConditionSucceeded = "Succeeded"
	// ConditionFailed is True once everything has ended and a Job has failed.
	ConditionFailed = "Failed"
)

// Reasons of a JobFlow's conditions and events.
const (
	// ReasonPending: nothing has been started yet.
	ReasonPending = "Pending"
	// ReasonStarted: the first Jobs are being created.
	ReasonStarted = "Started"
	// ReasonRunning: Jobs are running.
	ReasonRunning = "Running"
	// ReasonSucceeded: every Job has succeeded.
	ReasonSucceeded = "Succeeded"
	// ReasonJobFailed: a Job has failed.
	ReasonJobFailed = "JobFailed"
	// ReasonFailed: the flow has ended, and a Job has failed.
	ReasonFailed = "Failed"
	// ReasonInvalidSpec: the spec can't be carried out until someone changes it.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonJobTemplateNotFound: a flow waits for a JobTemplate that doesn't exist.
	ReasonJobTemplateNotFound = "JobTemplateNotFound"
	// ReasonChangeIgnored: the spec was changed after the flow had ended.
	ReasonChangeIgnored = "ChangeIgnored"
	// ReasonTerminating: the JobFlow is being deleted.
	ReasonTerminating = "Terminating"
)

// JobFlowStatus is how far a JobFlow has come.
type JobFlowStatus struct {
	// State sums up the flow in one word. Pending: nothing has been started. Running: Jobs have been started, and not
	// everything has ended. Succeed: every Job has succeeded. Failed: everything has ended and a Job has failed, or the
	// spec is invalid and nothing was ever started. Terminating: the JobFlow is being deleted.
	// +optional
	State State `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// StartTime is when the first Jobs were planned. Not set as long as the spec is invalid.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the last Job ended. Once it is set, the flow is over: nothing is started any more.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Conditions. Ready is True once every Job has succeeded, and says in its reason why not yet. Succeeded and Failed
	// appear, as True, when the flow has ended. Stalled is True when nothing more will happen by itself.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Flows are the states of the spec's flows, in the spec's order.
	// +optional
	// +listType=map
	// +listMapKey=name
	Flows []FlowStatus `json:"flows,omitempty"`
}

// FlowStatus is how far one flow of a JobFlow has come.
type FlowStatus struct {
	// Name is the flow's name in the spec.
	// +required
	Name string `json:"name"`

	// State is the flow's state. Pending: no Job yet. Running: there is a Job. Succeed, Failed: the Job has ended, and
	// the flow won't run again, even if its Job is deleted. Skipped: something that it depends on failed.
	// +required
	State FlowState `json:"state"`

	// Job is the name of the flow's Job, once there is one.
	// +optional
	Job string `json:"job,omitempty"`

	// StartTime is when the Job was started, by the Job's own account.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the Job completed or failed, by the Job's own account.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Message says why the flow failed, was skipped, or is waiting for something other than its dependencies.
	// +optional
	Message string `json:"message,omitempty"`
}
