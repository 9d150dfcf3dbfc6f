package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// MiniClusterState summarises a MiniCluster in one word.
// +kubebuilder:validation:Enum=Pending;Suspended;Starting;Running;Restarting;Succeeded;Failed;Terminating
type MiniClusterState string

// The states of a MiniCluster.
const (
	// MiniClusterStatePending: no pod of this start exists: the spec is invalid, Kueue hasn't admitted the Job, or pods of an
	// earlier Job still run.
	MiniClusterStatePending MiniClusterState = "Pending"
	// MiniClusterStateSuspended: spec.suspend is true, or pods from before the suspension still run. There are no others.
	MiniClusterStateSuspended MiniClusterState = "Suspended"
	// MiniClusterStateStarting: pods exist, and the leader doesn't run the command yet.
	MiniClusterStateStarting MiniClusterState = "Starting"
	// MiniClusterStateRunning: the leader is ready and runs the command, or waits for a user.
	MiniClusterStateRunning MiniClusterState = "Running"
	// MiniClusterStateRestarting: the leader failed or was lost; all pods are being stopped and recreated.
	MiniClusterStateRestarting MiniClusterState = "Restarting"
	// MiniClusterStateSucceeded: the leader ended with exit code 0. This is final.
	MiniClusterStateSucceeded MiniClusterState = "Succeeded"
	// MiniClusterStateFailed: the leader failed more often than backoffLimit allows, a worker could not start, or the
	// deadline expired. This is final.
	MiniClusterStateFailed MiniClusterState = "Failed"
	// MiniClusterStateTerminating: the MiniCluster is being deleted.
	MiniClusterStateTerminating MiniClusterState = "Terminating"
)

// Types of a MiniCluster's conditions, besides Ready, Stalled, Succeeded and Failed.
const (
	// MiniClusterAdmitted is True once pods may be created: the spec is valid, it isn't suspended, and where Kueue is
	// the queue, Kueue has started the Job. The deadline starts with its transition.
	MiniClusterAdmitted = "Admitted"
	// MiniClusterPodsReady is True while all pods of spec.size are ready.
	MiniClusterPodsReady = "PodsReady"
	// MiniClusterBrokerReady is True while the leader's broker is up with the workers of the quorum. With flux.disable
	// there is no broker and it stays False, with reason FluxDisabled.
	MiniClusterBrokerReady = "BrokerReady"
	// MiniClusterRunning is True while the leader runs the command, or, if interactive, waits for a user.
	MiniClusterRunning = "Running"
	// MiniClusterCertificateLost is True while brokers run and the Secret with their certificate is gone. It is removed when
	// the Secret is there again or the brokers have been stopped.
	MiniClusterCertificateLost = "CertificateLost"
)

// Reasons of a MiniCluster's conditions and events, besides InvalidSpec, Succeeded, Running, Pending, Queued,
// PodsTerminating and Terminating.
const (
	// ReasonAdmitted: pods may be created.
	ReasonAdmitted = "Admitted"
	// ReasonStarting: pods are being created, or the brokers are joining.
	ReasonStarting = "Starting"
	// ReasonPodsReady: all pods are ready.
	ReasonPodsReady = "PodsReady"
	// ReasonPodsNotReady: pods are missing or not ready.
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonBrokerReady: the quorum of brokers has joined.
	ReasonBrokerReady = "BrokerReady"
	// ReasonBrokerNotReady: the leader's broker isn't up, or waits for the quorum.
	ReasonBrokerNotReady = "BrokerNotReady"
	// ReasonSecretDeleted: the Secret with the certificate was deleted while brokers run.
	ReasonSecretDeleted = "SecretDeleted"
	// ReasonFluxDisabled: flux.disable is true, so there is no broker.
	ReasonFluxDisabled = "FluxDisabled"
	// ReasonScaled: the size was changed.
	ReasonScaled = "Scaled"
	// ReasonRestarting: the leader failed or was lost, and the cluster starts again.
	ReasonRestarting = "Restarting"
	// ReasonLeaderFailed: the leader ended with a nonzero exit code.
	ReasonLeaderFailed = "LeaderFailed"
	// ReasonWorkerFailed: a worker failed or was lost. As the reason of Failed: a worker failed too often before the
	// command started, or its exit code failed the Job.
	ReasonWorkerFailed = "WorkerFailed"
	// ReasonLeaderLost: the leader's pod was deleted, evicted, or lost with its node.
	ReasonLeaderLost = "LeaderLost"
	// ReasonFieldIgnored: a field of the spec has no effect beside another one.
	ReasonFieldIgnored = "FieldIgnored"
	// ReasonFinished: the cluster has ended.
	ReasonFinished = "Finished"
)

// MiniClusterStatus is the observed state of a MiniCluster.
type MiniClusterStatus struct {
	// State summarises the cluster in one word. Pending: nothing runs yet. Suspended: spec.suspend is true, or pods
	// from before the suspension still run. Starting: pods are being created and brokers join. Running: the leader runs
	// the command. Restarting: the leader was lost, and all pods are being replaced. Succeeded, Failed: it has ended.
	// Terminating: it is being deleted.
	// +optional
	State MiniClusterState `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Size is the number of pods, without those that have ended or are being stopped. kubectl scale and autoscalers read
	// it.
	// +optional
	Size int32 `json:"size,omitempty"`

	// Selector selects the pods of the cluster, for autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`

	// MaximumSize is the maximum of spec.size: spec.maxSize, or the size that the cluster started with. It determines
	// the brokers' configuration.
	// +optional
	MaximumSize int32 `json:"maximumSize,omitempty"`

	// StartSize is the size of the cluster at its last start. It determines the configuration, whatever size spec.size
	// is scaled to.
	// +optional
	StartSize int32 `json:"startSize,omitempty"`

	// ReadyPods is the number of ready pods.
	// +optional
	ReadyPods int32 `json:"readyPods,omitempty"`

	// Restarts is the number of restarts of the whole cluster. spec.backoffLimit limits it.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// Leader is the leader's pod, of the latest start.
	// +optional
	Leader *MiniClusterLeader `json:"leader,omitempty"`

	// ExitCode is the exit code of the leader when the cluster ended. Not set before, nor if it ended
	// without one: its pod was lost, or the deadline expired.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// LastFailure is the reason of the leader's last failure or loss.
	// +optional
	LastFailure string `json:"lastFailure,omitempty"`

	// FailedWorker is the worker that failed or was lost last, since the latest start. The Job replaces it. Not set
	// without one, nor while the cluster is suspended.
	// +optional
	FailedWorker *MiniClusterFailedWorker `json:"failedWorker,omitempty"`

	// StartTime is the time at which the cluster was admitted. The deadline starts there. It is unset while the cluster
	// is suspended.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is the time at which the cluster ended. Once it is set, nothing is started any more.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Conditions. Admitted: pods may be created. PodsReady: all pods are ready. BrokerReady: the quorum of brokers has
	// joined. Running: the leader runs the command. Succeeded and Failed appear, as True, at the end. Ready is True
	// while it runs and once it has succeeded. Stalled is True when the cluster can't progress without a user's action.
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

	// ExitCode is the exit code of the failed container: 75 if the worker's scripts ended it, 137 or 143 if it was
	// stopped. Not set while the pod is being stopped, nor if it was lost without one.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// Message describes the failure of the pod.
	// +required
	Message string `json:"message"`

	// Count is the number of pods of this rank that have failed or were lost since the start. Deleted pods no longer
	// count once a pod of another rank has failed after them.
	// +required
	Count int32 `json:"count"`

	// Time is the time of the failure.
	// +required
	Time metav1.Time `json:"time"`
}

// MiniClusterLeader is the leader's pod.
type MiniClusterLeader struct {
	// Pod is the pod's name.
	// +required
	Pod string `json:"pod"`

	// UID is the pod's UID: a different one means that the leader was lost.
	// +required
	UID types.UID `json:"uid"`
}
