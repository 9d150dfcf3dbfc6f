package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of a DaemonJob's conditions and events, besides those that it shares with a JobFlow.
const (
	// ReasonUpToDate: every node that there is has succeeded, and the job serves those that come.
	ReasonUpToDate = "UpToDate"
	// ReasonNoMatchingNodes: there is no node that the job is for.
	ReasonNoMatchingNodes = "NoMatchingNodes"
	// ReasonNodesUnavailable: the only nodes left can't take a pod for the time being.
	ReasonNodesUnavailable = "NodesUnavailable"
	// ReasonPaused: as many nodes have failed as failurePolicy Pause allows.
	ReasonPaused = "Paused"
	// ReasonFailFast: as many nodes have failed as failurePolicy FailFast allows.
	ReasonFailFast = "FailFast"
	// ReasonSpecChanged: the spec was changed while Jobs were running.
	ReasonSpecChanged = "SpecChanged"
)

// DaemonJobStatus is how far a DaemonJob has come. Nodes that are gone are forgotten: they are in no number and no list.
type DaemonJobStatus struct {
	// State sums up the job in one word. Pending: no node has a Job yet. Running: Jobs have been started, and the job
	// hasn't ended. Suspended: the spec says suspend. Paused: failurePolicy Pause has taken effect. Succeed: the Job of
	// every node has succeeded. Failed: the job has ended, and a node failed or not all were served in time; or the spec
	// is invalid and nothing was ever started.
	// Terminating: the DaemonJob is being deleted.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Running;Suspended;Paused;Succeed;Failed;Terminating
	State State `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// StartTime is when the first Jobs were planned. Not set as long as the spec is invalid, or suspended from the start.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// ActiveSince is when the job was started, last resumed, or last retried: activeDeadlineSeconds runs from it.
	// Not set while the job is suspended.
	// +optional
	ActiveSince *metav1.Time `json:"activeSince,omitempty"`

	// CompletionTime is when the job ended. Once it is set, the job is over: nothing is started any more, but by a retry.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Desired is the number of nodes that the job is for: those that the template selects and the spec doesn't exclude,
	// and those that got a Job before that was changed. It is the sum of active, suspended, succeeded, failed, waiting,
	// skipped and the nodes whose turn is yet to come.
	// +optional
	// +kubebuilder:default=0
	Desired int32 `json:"desired"`

	// Active is the number of nodes whose Job hasn't ended and isn't suspended. A node whose former Job, or a pod of it,
	// hasn't ended yet is one of them.
	// +optional
	// +kubebuilder:default=0
	Active int32 `json:"active"`

	// Suspended is the number of nodes whose Job is suspended.
	// +optional
	// +kubebuilder:default=0
	Suspended int32 `json:"suspended"`

	// Succeeded is the number of nodes whose Job has succeeded.
	// +optional
	// +kubebuilder:default=0
	Succeeded int32 `json:"succeeded"`

	// Failed is the number of nodes whose Job has failed.
	// +optional
	// +kubebuilder:default=0
	Failed int32 `json:"failed"`

	// Waiting is the number of nodes that have no Job yet and can't take one for the time being: they are cordoned, or have
	// a taint that isn't tolerated.
	// +optional
	// +kubebuilder:default=0
	Waiting int32 `json:"waiting"`

	// Skipped is the number of nodes without an outcome when the job ended: their Job was stopped, or never started. It
	// is 0 before.
	// +optional
	// +kubebuilder:default=0
	Skipped int32 `json:"skipped"`

	// SucceededNodes are the names of the nodes that have succeeded, folded: node-[1-3,7].example is node-1.example,
	// node-2.example, node-3.example and node-7.example. They won't run again, even if their Jobs are deleted.
	// +optional
	SucceededNodes string `json:"succeededNodes,omitempty"`

	// FailedNodes are the names of the nodes that have failed, folded as succeededNodes are. They won't run again, even
	// if their Jobs are deleted, but by a retry.
	// +optional
	FailedNodes string `json:"failedNodes,omitempty"`

	// Failures say why nodes failed. The last 10 are kept.
	// +optional
	// +listType=atomic
	Failures []NodeFailure `json:"failures,omitempty"`

	// Paused is true when failurePolicy Pause has taken effect, until there is a retry or failurePolicy is changed.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Retry is the last spec.retry that was carried out. The failures that are recorded here happened since then.
	// +optional
	Retry int32 `json:"retry,omitempty"`

	// Conditions. Ready is True once every node has succeeded, and says in its reason why not yet. Succeeded and Failed
	// appear, as True, when the job has ended; Failed also while the spec is invalid and nothing was ever started. Suspended
	// is True while it is suspended. Stalled is True when nothing more will happen by itself.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodeFailure says why a node failed.
type NodeFailure struct {
	// Node is the node's name.
	// +required
	Node string `json:"node"`

	// Job is the name of the node's Job.
	// +required
	Job string `json:"job"`

	// Message is the Job's own account of its failure: a reason, and mostly a sentence.
	// +optional
	Message string `json:"message,omitempty"`

	// CompletionTime is when the Job failed, by its own account.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}
