package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobFlowStatus is how far a JobFlow has come. It is bounded: at most 100 KiB, whatever the flow.
//
// Its indexes count the flows of the spec with generation observedGeneration, from 0, then those in finally. What was
// started and has since been taken out of the spec comes after them.
type JobFlowStatus struct {
	// State sums up the flow in one word. Pending: nothing has been started. Running: Jobs have been started, and not
	// everything has ended. Suspended: the spec says suspend, and not everything has ended. Succeed: everything has ended,
	// and nothing failed that counts (see allowFailure and successWhen). Failed: everything has ended and something failed
	// that counts, or the spec is invalid and nothing was ever started. Terminating: the JobFlow is being deleted.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Running;Suspended;Succeed;Failed;Terminating
	State State `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// StartTime is when the first Jobs were planned. Not set as long as the spec is invalid, or suspended from the start.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// ActiveSince is when the flow was started, last resumed, or last retried: activeDeadlineSeconds runs from it.
	// Not set while the flow is suspended.
	// +optional
	ActiveSince *metav1.Time `json:"activeSince,omitempty"`

	// CompletionTime is when the last Job ended. Once it is set, the flow is over: nothing is started any more, but by a
	// retry.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Retry is the last spec.retry that was carried out.
	// +optional
	Retry int32 `json:"retry,omitempty"`

	// Progress is how many flows need nothing more, of how many: "7/12".
	// +optional
	Progress string `json:"progress,omitempty"`

	// Current are the names of the flows that are running, the first few of them.
	// +optional
	Current string `json:"current,omitempty"`

	// Counts are how many flows are in each state.
	// +optional
	Counts FlowCounts `json:"counts,omitzero"`

	// Finished are the indexes of the flows that have ended: that succeeded, failed or were skipped. Those in failed and
	// skipped apart, they have succeeded. What is listed here won't run again, even if its Job is deleted.
	// +optional
	Finished Indexes `json:"finished,omitempty"`

	// Failed are the indexes of the flows that failed.
	// +optional
	Failed Indexes `json:"failed,omitempty"`

	// Skipped are the indexes of the flows that were skipped. A change of the spec lets them be decided anew.
	// +optional
	Skipped Indexes `json:"skipped,omitempty"`

	// Marks tell the flows that succeeded or failed from others when the spec is changed, so that they can be reordered.
	// For each of them, in the order of the indexes, a few bytes of hashes of its name and of its spec when it was started,
	// in base64.
	// +optional
	Marks string `json:"marks,omitempty"`

	// Items are how far flows with forEach have come that haven't succeeded.
	// +optional
	// +listType=map
	// +listMapKey=name
	Items []ItemsStatus `json:"items,omitempty"`

	// Outputs are outputs that other flows need, and that haven't all succeeded yet. All together at most 24 KiB; at most
	// 4 KiB if there are more than 1000 flows.
	// +optional
	// +listType=map
	// +listMapKey=name
	Outputs []FlowOutput `json:"outputs,omitempty"`

	// Outcome is what came of the flows before finally, as the flows in finally are told. It is set once, before the first of
	// them starts, and then stays until a retry. Not set without finally.
	// +optional
	Outcome *FlowsOutcome `json:"outcome,omitempty"`

	// Conditions. Ready is True once the flow has succeeded, and says in its reason why not yet. Succeeded and Failed
	// appear, as True, when the flow has ended; Failed also while the spec is invalid and nothing was ever started. Stalled
	// is True when nothing more will happen by itself. Suspended is True while the flow is suspended. Stopped is True once
	// the flow was stopped by terminate or its deadline. EditRefused is True while the spec differs in what has been started
	// from what it was then.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Flows are the states of the flows one by one, in the spec's order: of all of them if there are at most 100, and else
	// of the first 10 that are running and the last 5 that failed.
	// +optional
	// +listType=map
	// +listMapKey=name
	Flows []FlowStatus `json:"flows,omitempty"`
}

// FlowsOutcome is what came of the flows of a JobFlow before finally.
type FlowsOutcome struct {
	// State is the variable FLOW_STATUS: Succeed or Failed.
	// +required
	// +kubebuilder:validation:Enum=Succeed;Failed
	State State `json:"state"`
	// Failed is the variable FLOW_FAILED: the names of flows that failed, those with allowFailure too, separated by commas,
	// at most 100 of them, and at most 10 if there are more than 1000 flows.
	// +optional
	Failed string `json:"failed,omitempty"`
}

// FlowCounts are how many flows of a JobFlow are in each state.
type FlowCounts struct {
	// Total is how many there are, those in finally included.
	// +optional
	Total int32 `json:"total,omitempty"`
	// Pending is how many haven't been started.
	// +optional
	Pending int32 `json:"pending,omitempty"`
	// Running is how many have a Job that hasn't ended and isn't suspended.
	// +optional
	Running int32 `json:"running,omitempty"`
	// Suspended is how many have a Job that is suspended; with forEach, no other Jobs that haven't ended.
	// +optional
	Suspended int32 `json:"suspended,omitempty"`
	// Succeeded is how many succeeded.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`
	// Failed is how many failed.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// Skipped is how many were skipped.
	// +optional
	Skipped int32 `json:"skipped,omitempty"`
}

// FlowStatus is how far one flow of a JobFlow has come.
type FlowStatus struct {
	// Name is the flow's name in the spec.
	// +required
	Name string `json:"name"`

	// State is the flow's state. Pending: no Job yet. Running: there is a Job. Suspended: there is one, and it is suspended.
	// Succeed, Failed: the Job has ended, and the flow won't run again, even if its Job is deleted, but by a retry. Skipped: its dependencies don't let it start.
	// +required
	State FlowState `json:"state"`

	// Job is the name of the flow's Job, once there is one. With forEach it is what its Jobs' names begin with.
	// +optional
	Job string `json:"job,omitempty"`

	// Attempts is how often the flow was started: once, and again by retries. The Job's own retries of pods don't count.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`

	// StartTime is when the flow's Job was created.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the Job completed or failed, by the Job's or its pods' own account.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Message says why the flow failed, was skipped, or is waiting for something other than its dependencies; and of a
	// flow with forEach how many items have succeeded. At most 256 bytes.
	// +optional
	Message string `json:"message,omitempty"`
}

// ItemsStatus is how far a flow with forEach has come.
type ItemsStatus struct {
	// Name is the flow's name.
	// +required
	Name string `json:"name"`
	// Of tells the list of items from another: a hash.
	// +required
	Of string `json:"of"`
	// Total is how many items there are.
	// +required
	Total int32 `json:"total"`
	// Succeeded are the indexes of the items whose Jobs succeeded.
	// +optional
	Succeeded Indexes `json:"succeeded,omitempty"`
	// Failed are the indexes of the items whose Jobs failed.
	// +optional
	Failed Indexes `json:"failed,omitempty"`
}

// FlowOutput is what a flow put out.
type FlowOutput struct {
	// Name is the flow's name.
	// +required
	Name string `json:"name"`
	// Value is the output. Invalid UTF-8 in it is replaced.
	// +optional
	Value string `json:"value,omitempty"`
	// Lost says that the output can't be passed on, and why: the pods were deleted before it was read, it was cut, or it has a
	// NUL byte. Flows that need it fail, and a retry runs this one again.
	// +optional
	Lost string `json:"lost,omitempty"`
}
