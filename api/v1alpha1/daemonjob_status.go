package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of a DaemonJob's conditions and events, besides those that it shares with a JobFlow.
const (
	// ReasonUpToDate: every existing node has succeeded, and the job serves nodes that join.
	ReasonUpToDate = "UpToDate"
	// ReasonNoMatchingNodes: no node matches the job.
	ReasonNoMatchingNodes = "NoMatchingNodes"
	// ReasonNodesUnavailable: all remaining nodes are unavailable: they can't take a pod at present.
	ReasonNodesUnavailable = "NodesUnavailable"
	// ReasonPaused: the number of failed nodes has reached maxFailures, with failurePolicy Pause.
	ReasonPaused = "Paused"
	// ReasonFailFast: the number of failed nodes has reached maxFailures, with failurePolicy FailFast.
	ReasonFailFast = "FailFast"
	// ReasonSpecChanged: the spec was changed while Jobs were running.
	ReasonSpecChanged = "SpecChanged"
)

// DaemonJobStatus is the observed state of a DaemonJob. Deleted nodes are not part of it: no number and no list includes
// them.
type DaemonJobStatus struct {
	// State summarises the job in one word. Pending: no node has a Job yet. Running: at least one Job was started, and
	// the job hasn't ended. Suspended: spec.suspend is true. Paused: failurePolicy Pause has taken effect. Succeed: the
	// Job of every node has succeeded. Failed: the job has ended, and a node failed or had no Job in time; or the spec
	// is invalid and the job was never started. Terminating: the DaemonJob is being deleted.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Running;Suspended;Paused;Succeed;Failed;Terminating
	State State `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// StartTime is the time at which the first Jobs were planned. Not set while the spec is invalid, or suspended from
	// the start.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// ActiveSince is the time of the start, the last resume or the last retry: activeDeadlineSeconds starts there. Not
	// set while the job is suspended.
	// +optional
	ActiveSince *metav1.Time `json:"activeSince,omitempty"`

	// CompletionTime is the time at which the job ended. Once it is set, only a retry starts further Jobs.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Desired is the number of nodes of the job: the nodes that the template selects and the spec doesn't exclude, and
	// the nodes that got a Job before a change of the spec. It is the sum of active, suspended, succeeded, failed,
	// waiting, skipped and the nodes that have not started yet.
	// +optional
	// +kubebuilder:default=0
	Desired int32 `json:"desired"`

	// Active is the number of nodes whose Job hasn't ended and isn't suspended. It includes nodes with an earlier Job,
	// or a pod of it, that hasn't ended.
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

	// Waiting is the number of unavailable nodes without a Job, or with unavailableNodes Skip with an interrupted one: they
	// are cordoned, or have a taint without a toleration.
	// +optional
	// +kubebuilder:default=0
	Waiting int32 `json:"waiting"`

	// Skipped is the number of nodes that had no Job when the job ended, or with unavailableNodes Skip an interrupted one.
	// It is 0 before the end.
	// +optional
	// +kubebuilder:default=0
	Skipped int32 `json:"skipped"`

	// SucceededNodes are the names of the succeeded nodes, folded: node-[1-3,7].example is node-1.example,
	// node-2.example, node-3.example and node-7.example. They don't run again, even if their Jobs are deleted.
	// +optional
	SucceededNodes string `json:"succeededNodes,omitempty"`

	// FailedNodes are the names of the failed nodes, folded as in succeededNodes. Only a retry runs them again, even if
	// their Jobs are deleted.
	// +optional
	FailedNodes string `json:"failedNodes,omitempty"`

	// Failures are the reasons of the last 10 failures of nodes.
	// +optional
	// +listType=atomic
	Failures []NodeFailure `json:"failures,omitempty"`

	// Paused is true from the time at which failurePolicy Pause takes effect until a retry or a change of failurePolicy.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Retry is the last spec.retry that the operator has carried out. The recorded failures happened after it.
	// +optional
	Retry int32 `json:"retry,omitempty"`

	// Conditions. Ready is True once every node has succeeded; its reason says why it is not True yet. Succeeded and
	// Failed appear, as True, when the job has ended; Failed also while the spec is invalid and the job was never started.
	// Suspended is True while the job is suspended, and until the operator has resumed all Jobs that it suspended. Stalled
	// is True when the job can't progress without a user's action.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodeFailure describes the failure of a node.
type NodeFailure struct {
	// Node is the node's name.
	// +required
	Node string `json:"node"`

	// Job is the name of the node's Job.
	// +required
	Job string `json:"job"`

	// Message is the reason and message of the Job's condition Failed.
	// +optional
	Message string `json:"message,omitempty"`

	// CompletionTime is the time at which the Job failed, as its condition says.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}
