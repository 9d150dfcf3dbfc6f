package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// MiniClusterState sums up a MiniCluster in one word.
// +kubebuilder:validation:Enum=Pending;Suspended;Starting;Running;Restarting;Succeeded;Failed;Terminating
type MiniClusterState string

// The states of a MiniCluster.
const (
	// MiniClusterStatePending: nothing has been made yet: the spec is invalid, or Kueue hasn't admitted the Job.
	MiniClusterStatePending MiniClusterState = "Pending"
	// MiniClusterStateSuspended: spec.suspend is true; there are no pods, or they are being stopped.
	MiniClusterStateSuspended MiniClusterState = "Suspended"
	// MiniClusterStateStarting: there are pods, and the leader doesn't run the command yet.
	MiniClusterStateStarting MiniClusterState = "Starting"
	// MiniClusterStateRunning: the leader is ready and runs the command, or waits for a person.
	MiniClusterStateRunning MiniClusterState = "Running"
	// MiniClusterStateRestarting: the leader failed or was lost; all pods are being stopped, to be made again.
	MiniClusterStateRestarting MiniClusterState = "Restarting"
	// MiniClusterStateSucceeded: the leader ended with exit code 0. This is final.
	MiniClusterStateSucceeded MiniClusterState = "Succeeded"
	// MiniClusterStateFailed: the leader failed more often than backoffLimit allows, a worker could not be started, or the
	// deadline came. This is final.
	MiniClusterStateFailed MiniClusterState = "Failed"
	// MiniClusterStateTerminating: the MiniCluster is being deleted.
	MiniClusterStateTerminating MiniClusterState = "Terminating"
)

// Types of a MiniCluster's conditions, besides Ready, Stalled, Succeeded and Failed.
const (
	// MiniClusterAdmitted is True once pods may be made: the spec is valid, it isn't suspended, and where Kueue is the
	// queue, Kueue has let the Job start. The deadline runs from its transition.
	MiniClusterAdmitted = "Admitted"
	// MiniClusterPodsReady is True while all pods of spec.size are ready.
	MiniClusterPodsReady = "PodsReady"
	// MiniClusterBrokerReady is True while the leader's broker is up with as many workers as the quorum asks for. With
	// flux.disable there is no broker and it stays False, with reason FluxDisabled.
	MiniClusterBrokerReady = "BrokerReady"
	// MiniClusterRunning is True while the leader runs the command, or, if interactive, waits for a person.
	MiniClusterRunning = "Running"
)

// Reasons of a MiniCluster's conditions and events, besides InvalidSpec, Succeeded, Running, Pending and Terminating.
const (
	// ReasonAdmitted: pods may be made.
	ReasonAdmitted = "Admitted"
	// ReasonQueued: the Job waits for Kueue to let it start.
	ReasonQueued = "Queued"
	// ReasonStarting: pods are being made, or the brokers are joining.
	ReasonStarting = "Starting"
	// ReasonPodsReady: all pods are ready.
	ReasonPodsReady = "PodsReady"
	// ReasonPodsNotReady: pods are missing or not ready.
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonBrokerReady: the quorum of brokers is there.
	ReasonBrokerReady = "BrokerReady"
	// ReasonBrokerNotReady: the leader's broker isn't up, or waits for the quorum.
	ReasonBrokerNotReady = "BrokerNotReady"
	// ReasonFluxDisabled: flux.disable is true, so there is no broker.
	ReasonFluxDisabled = "FluxDisabled"
	// ReasonScaled: the size was changed.
	ReasonScaled = "Scaled"
	// ReasonRestarting: the leader failed or was lost, and the cluster is started again.
	ReasonRestarting = "Restarting"
	// ReasonLeaderFailed: the leader ended with an exit code other than 0.
	ReasonLeaderFailed = "LeaderFailed"
	// ReasonWorkerFailed: a worker failed or was lost. As the reason of Failed: a worker failed too often before the work
	// began.
	ReasonWorkerFailed = "WorkerFailed"
	// ReasonLeaderLost: the leader's pod was deleted, evicted, or lost with its node.
	ReasonLeaderLost = "LeaderLost"
	// ReasonFieldIgnored: a field of the spec has no effect beside another one.
	ReasonFieldIgnored = "FieldIgnored"
	// ReasonFinished: the cluster has ended.
	ReasonFinished = "Finished"
)

// MiniClusterStatus is how far a MiniCluster has come.
type MiniClusterStatus struct {
	// State sums up the cluster in one word. Pending: nothing runs yet. Suspended: spec.suspend is true. Starting: pods
	// are being made and brokers join. Running: the leader runs the command. Restarting: the leader was lost, and all
	// pods are being replaced. Succeeded, Failed: it has ended. Terminating: it is being deleted.
	// +optional
	State MiniClusterState `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Size is how many pods there are, without those that have ended or are being stopped. It is what kubectl scale and
	// autoscalers see.
	// +optional
	Size int32 `json:"size,omitempty"`

	// Selector selects the pods of the cluster, for autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`

	// MaximumSize is the most that spec.size can be: spec.maxSize, or the size that the cluster started with. The brokers
	// are configured for it.
	// +optional
	MaximumSize int32 `json:"maximumSize,omitempty"`

	// StartSize is the size that the cluster was started with, the last time. Its configuration is made for it, whatever
	// spec.size is scaled to.
	// +optional
	StartSize int32 `json:"startSize,omitempty"`

	// ReadyPods is how many pods are ready.
	// +optional
	ReadyPods int32 `json:"readyPods,omitempty"`

	// Restarts is how often the whole cluster was started again. spec.backoffLimit bounds it.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// Leader is the leader's pod, of the latest start.
	// +optional
	Leader *MiniClusterLeader `json:"leader,omitempty"`

	// ExitCode is the exit code of the leader's container when the cluster ended. Not set before, nor if it ended
	// without one: its pod was lost, or the deadline came.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// LastFailure says why the leader failed or was lost the last time.
	// +optional
	LastFailure string `json:"lastFailure,omitempty"`

	// FailedWorker is the worker that failed or was lost last, since the latest start. The Job replaces it. Not set as long
	// as there is none, nor while the cluster is suspended.
	// +optional
	FailedWorker *MiniClusterFailedWorker `json:"failedWorker,omitempty"`

	// StartTime is when the cluster was admitted. The deadline runs from here. It is unset while it is suspended.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the cluster ended. Once it is set, nothing is started any more.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Conditions. Admitted: pods may be made. PodsReady: all pods are ready. BrokerReady: the quorum of brokers is there.
	// Running: the leader runs the command. Succeeded and Failed appear, as True, at the end. Ready is True while it runs
	// and once it has succeeded. Stalled is True when nothing more will happen by itself.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MiniClusterFailedWorker is a worker that failed or was lost.
type MiniClusterFailedWorker struct {
	// Rank is the worker's rank, at least 1.
	// +required
	Rank int32 `json:"rank"`

	// Pod is the name of the pod that failed or was lost.
	// +required
	Pod string `json:"pod"`

	// ExitCode is that of the container that failed: 75 if the worker's scripts ended it, 137 or 143 if it was stopped. Not
	// set as long as the pod is being stopped, nor if it was lost without one.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// Message says what became of the pod.
	// +required
	Message string `json:"message"`

	// Count is how many pods of this rank have failed or been lost since the start. Pods that are gone aren't counted any
	// more once another rank's pod has failed after them.
	// +required
	Count int32 `json:"count"`

	// Time is when it happened.
	// +required
	Time metav1.Time `json:"time"`
}

// MiniClusterLeader is the leader's pod.
type MiniClusterLeader struct {
	// Pod is the pod's name.
	// +required
	Pod string `json:"pod"`

	// UID is the pod's UID: another one means that the leader was lost.
	// +required
	UID types.UID `json:"uid"`
}
