package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobFlowStatus is the observed state of a JobFlow. Its size is limited: at most 100 KiB for any flow.
//
// Its indexes count the flows of the spec with generation observedGeneration, from 0, then those in finally. Started
// flows that were removed from the spec come after them.
type JobFlowStatus struct {
	// State summarises the flow in one word. Pending: nothing has started. Running: at least one Job was started, and
	// not everything has ended. Suspended: spec.suspend is true, and not everything has ended. Succeed: everything has
	// ended, and nothing failed that counts (see allowFailure and successWhen). Failed: everything has ended and
	// something failed that counts, or the spec is invalid and no Job was ever started. Terminating: the JobFlow is
	// being deleted.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Running;Suspended;Succeed;Failed;Terminating
	State State `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// StartTime is the time at which the first Jobs were planned. Not set while the spec is invalid, or suspended from
	// the start.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// ActiveSince is the time of the start, the last resume or the last retry: activeDeadlineSeconds starts there. Not
	// set while the flow is suspended.
	// +optional
	ActiveSince *metav1.Time `json:"activeSince,omitempty"`

	// CompletionTime is the time at which the last Job ended. Once it is set, only a retry starts further Jobs.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Retry is the last spec.retry that the operator has carried out.
	// +optional
	Retry int32 `json:"retry,omitempty"`

	// Progress is the number of completed flows, of the number of all: "7/12".
	// +optional
	Progress string `json:"progress,omitempty"`

	// Current are the names of the first running flows.
	// +optional
	Current string `json:"current,omitempty"`

	// Counts are the numbers of flows in each state.
	// +optional
	Counts FlowCounts `json:"counts,omitzero"`

	// Finished are the indexes of the flows that succeeded, failed or were skipped. Those without an entry in failed or
	// skipped have succeeded. They don't run again, even if their Jobs are deleted.
	// +optional
	Finished Indexes `json:"finished,omitempty"`

	// Failed are the indexes of the flows that failed.
	// +optional
	Failed Indexes `json:"failed,omitempty"`

	// Skipped are the indexes of the flows that were skipped. A change of the spec lets the operator decide on them
	// again.
	// +optional
	Skipped Indexes `json:"skipped,omitempty"`

	// NodeDigests identify the flows that succeeded or failed when the spec is changed, so that flows can be reordered.
	// For each of them, in the order of the indexes, it has a few bytes of hashes of its name and of its spec at its
	// start, in base64.
	// +optional
	NodeDigests string `json:"nodeDigests,omitempty"`

	// Marks is the former name of nodeDigests. The operator reads it to take over a status of an earlier version, and
	// clears it. v0.2 removes the field.
	// +optional
	Marks string `json:"marks,omitempty"`

	// Items are the progress of flows with forEach that haven't succeeded. Together about 12 KiB at most. While more items
	// than that allows are under way, others wait; of flows that have failed, those that don't fit are left out, and a
	// retry runs all of their items again.
	// +optional
	// +listType=map
	// +listMapKey=name
	Items []ItemsStatus `json:"items,omitempty"`

	// Outputs are outputs that are needed by flows that haven't all succeeded yet. Together at most 24 KiB; at most 4
	// KiB if there are more than 1000 flows.
	// +optional
	// +listType=map
	// +listMapKey=name
	Outputs []FlowOutput `json:"outputs,omitempty"`

	// Outcome is the outcome of the flows before finally, as the flows in finally receive it. It is set once, before the
	// first of them starts, and then stays until a retry. Not set without finally.
	// +optional
	Outcome *FlowsOutcome `json:"outcome,omitempty"`

	// Conditions. Ready is True once the flow has succeeded; its reason says why it is not True yet. Succeeded and
	// Failed appear, as True, when the flow has ended; Failed also while the spec is invalid and no Job was ever
	// started. Stalled is True when the flow can't progress without a user's action. Suspended is True while the flow is
	// suspended. Stopped is True once the flow was stopped by terminate or its deadline. EditRefused is True while the
	// spec of a started flow differs from its spec at its start.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Flows are the states of the flows one by one, in the spec's order: of all of them if there are at most 100,
	// otherwise of the first 10 running ones and the last 5 failed ones.
	// +optional
	// +listType=map
	// +listMapKey=name
	Flows []FlowStatus `json:"flows,omitempty"`
}

// FlowsOutcome is the outcome of the flows of a JobFlow before finally.
type FlowsOutcome struct {
	// State is the variable FLOW_STATUS: Succeed or Failed.
	// +required
	// +kubebuilder:validation:Enum=Succeed;Failed
	State State `json:"state"`
	// Failed is the variable FLOW_FAILED: the names of failed flows, including those with allowFailure, separated by
	// commas, at most 100 of them, and at most 10 if there are more than 1000 flows.
	// +optional
	Failed string `json:"failed,omitempty"`
}

// FlowCounts are the numbers of flows of a JobFlow in each state.
type FlowCounts struct {
	// Total is the number of all flows, including those in finally.
	// +optional
	Total int32 `json:"total,omitempty"`
	// Pending is the number of flows that haven't started.
	// +optional
	Pending int32 `json:"pending,omitempty"`
	// Running is the number of flows with a Job that hasn't ended and isn't suspended.
	// +optional
	Running int32 `json:"running,omitempty"`
	// Suspended is the number of flows with a suspended Job; with forEach, if all Jobs that haven't ended are suspended.
	// +optional
	Suspended int32 `json:"suspended,omitempty"`
	// Succeeded is the number of succeeded flows.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`
	// Failed is the number of failed flows.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// Skipped is the number of skipped flows.
	// +optional
	Skipped int32 `json:"skipped,omitempty"`
}

// FlowStatus is the observed state of one flow of a JobFlow.
type FlowStatus struct {
	// Name is the flow's name in the spec.
	// +required
	Name string `json:"name"`

	// State is the flow's state. Pending: no Job yet. Running: it has a Job. Suspended: it has a Job, and it is
	// suspended. Succeed, Failed: the Job has ended, and only a retry runs the flow again, even if its Job is deleted.
	// Skipped: its dependencies prevent its start.
	// +required
	State FlowState `json:"state"`

	// Job is the name of the flow's Job, once it exists. With forEach it is the prefix of its Jobs' names.
	// +optional
	Job string `json:"job,omitempty"`

	// Attempts is the number of starts of the flow: one, and one for each retry. The Job's own retries of pods don't
	// count.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`

	// StartTime is the time at which the flow's Job was created.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is the time at which the Job completed or failed, by the status of the Job or its pods.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Message says why the flow failed, was skipped, or waits for something other than its dependencies; for a flow with
	// forEach it has the number of succeeded items. At most 256 bytes.
	// +optional
	Message string `json:"message,omitempty"`
}

// ItemsStatus is the progress of a flow with forEach.
type ItemsStatus struct {
	// Name is the flow's name.
	// +required
	Name string `json:"name"`
	// Digest identifies the list of items by a hash. Items of an earlier version have of instead.
	// +optional
	Digest string `json:"digest,omitempty"`
	// Of is the former name of digest. The operator reads it to take over a status of an earlier version, and
	// clears it. v0.2 removes the field.
	// +optional
	Of string `json:"of,omitempty"`
	// Total is the number of items.
	// +required
	Total int32 `json:"total"`
	// Succeeded are the indexes of the items whose Jobs succeeded.
	// +optional
	Succeeded Indexes `json:"succeeded,omitempty"`
	// Failed are the indexes of the items whose Jobs failed, until the flow has ended.
	// +optional
	Failed Indexes `json:"failed,omitempty"`
}

// FlowOutput is the output of a flow.
type FlowOutput struct {
	// Name is the flow's name.
	// +required
	Name string `json:"name"`
	// Value is the output. Invalid UTF-8 in it is replaced.
	// +optional
	Value string `json:"value,omitempty"`
	// Lost is the reason why the output is not available: the pods were deleted before the operator read it, it was cut,
	// or it has a NUL byte. Flows that need it fail, and a retry runs this one again.
	// +optional
	Lost string `json:"lost,omitempty"`
}
