package v1alpha1

// State summarises the progress of a batch in one word. Each kind documents its states.
type State string

// The states of a batch.
const (
	// StatePending: nothing has started yet.
	StatePending State = "Pending"
	// StateRunning: at least one Job was started, and not all have ended.
	StateRunning State = "Running"
	// StateSuspended: spec.suspend is true, so nothing runs. Jobs that haven't ended count as suspended.
	StateSuspended State = "Suspended"
	// StatePaused: a DaemonJob's failurePolicy Pause has taken effect, so no further Job is started.
	StatePaused State = "Paused"
	// StateSucceed: everything has ended, and nothing failed that counts. This is final.
	StateSucceed State = "Succeed"
	// StateFailed: everything has ended, and something failed that counts, which is final; or the spec is invalid and no
	// Job was ever started, which a change of the spec can fix.
	StateFailed State = "Failed"
	// StateTerminating: the batch is being deleted.
	StateTerminating State = "Terminating"
)

// FlowState is the state of one flow of a JobFlow.
// +kubebuilder:validation:Enum=Pending;Running;Suspended;Succeed;Failed;Skipped
type FlowState string

// The states of a flow.
const (
	// FlowPending: the flow has no Job yet.
	FlowPending FlowState = "Pending"
	// FlowRunning: the flow has a Job that hasn't ended and isn't suspended.
	FlowRunning FlowState = "Running"
	// FlowSuspended: the flow has a Job that is suspended: by the JobFlow, its own template, or another controller, such
	// as a queue.
	FlowSuspended FlowState = "Suspended"
	// FlowSucceed: the Job completed.
	FlowSucceed FlowState = "Succeed"
	// FlowFailed: the Job failed, was stopped, or couldn't be created. Only a retry runs it again.
	FlowFailed FlowState = "Failed"
	// FlowSkipped: the flow has no Job, because the dependencies, when, failFast or the end of the JobFlow prevent its
	// start.
	FlowSkipped FlowState = "Skipped"
)

// Types of a JobFlow's conditions, besides Ready and Stalled.
const (
	// ConditionSucceeded is True once everything has ended and nothing has failed that counts.
	ConditionSucceeded = "Succeeded"
	// ConditionFailed is True once everything has ended and something has failed that counts, and while the spec is
	// invalid and no Job was ever started (reason InvalidSpec), which a change of the spec can fix.
	ConditionFailed = "Failed"
	// ConditionStopped is True once the flow was stopped before its end; its reason is Terminated or DeadlineExceeded.
	ConditionStopped = "Stopped"
	// ConditionEditRefused is True while the spec of a started flow differs from its spec at its start.
	ConditionEditRefused = "EditRefused"
)

// Reasons of a JobFlow's conditions and events.
const (
	// ReasonPending: nothing has started yet.
	ReasonPending = "Pending"
	// ReasonStarted: the first Jobs are being created.
	ReasonStarted = "Started"
	// ReasonRunning: Jobs are running.
	ReasonRunning = "Running"
	// ReasonSucceeded: everything has ended, and nothing failed that counts.
	ReasonSucceeded = "Succeeded"
	// ReasonJobFailed: a flow has failed.
	ReasonJobFailed = "JobFailed"
	// ReasonFailed: the JobFlow has ended, and a flow has failed.
	ReasonFailed = "Failed"
	// ReasonSuccessWhenFalse: everything has ended, and successWhen is false, or can't be evaluated.
	ReasonSuccessWhenFalse = "SuccessWhenFalse"
	// ReasonInvalidSpec: the operator can't carry out the spec until a user changes it.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonJobTemplateNotFound: a flow waits for a JobTemplate that doesn't exist.
	ReasonJobTemplateNotFound = "JobTemplateNotFound"
	// ReasonPodsRefused: the API server refuses the pods of a Job, also of a DaemonJob or a MiniCluster; the message
	// quotes its error.
	ReasonPodsRefused = "PodsRefused"
	// ReasonPodsTerminating: the operator creates or resumes a Job only after pods of its predecessor, or its own
	// earlier ones, have ended. The Job of a MiniCluster whose leader no longer runs ends only after its pods have.
	ReasonPodsTerminating = "PodsTerminating"
	// ReasonChangeIgnored: the spec was changed after the flow had ended.
	ReasonChangeIgnored = "ChangeIgnored"
	// ReasonEditRefused: the changed flow was started already, so the change has no effect.
	ReasonEditRefused = "EditRefused"
	// ReasonTerminated: spec.terminate is true.
	ReasonTerminated = "Terminated"
	// ReasonTerminating: the JobFlow is being deleted.
	ReasonTerminating = "Terminating"
)
