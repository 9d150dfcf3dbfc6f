package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FluxJobState summarises a FluxJob in one word.
// +kubebuilder:validation:Enum=Requested;Suspended;Waiting;Starting;Ready;Running;Stopping;Succeeded;Failed;Terminating
type FluxJobState string

// The states of a FluxJob.
const (
	// FluxJobRequested: the spec of the job is invalid, or its MiniCluster was refused.
	FluxJobRequested FluxJobState = "Requested"
	// FluxJobSuspended: spec.suspend is true, and the job holds no quota.
	FluxJobSuspended FluxJobState = "Suspended"
	// FluxJobWaiting: the job waits for admission.
	FluxJobWaiting FluxJobState = "Waiting"
	// FluxJobStarting: the job is admitted, and the MiniCluster is being created.
	FluxJobStarting FluxJobState = "Starting"
	// FluxJobReady: all pods of the MiniCluster are ready.
	FluxJobReady FluxJobState = "Ready"
	// FluxJobRunning: the command runs.
	FluxJobRunning FluxJobState = "Running"
	// FluxJobStopping: the job was evicted, and its pods are being stopped.
	FluxJobStopping FluxJobState = "Stopping"
	// FluxJobSucceeded: the command ended with exit code 0. This is final.
	FluxJobSucceeded FluxJobState = "Succeeded"
	// FluxJobFailed: the command failed, or could not run to completion. This is final.
	FluxJobFailed FluxJobState = "Failed"
	// FluxJobTerminating: the FluxJob is being deleted.
	FluxJobTerminating FluxJobState = "Terminating"
)

// Types of a FluxJob's conditions, besides Ready, Stalled, Succeeded and Failed.
const (
	// ConditionJobRequested is True once the operator has accepted the job and its spec is valid.
	ConditionJobRequested = "JobRequested"
	// ConditionJobWaitingForResources is True while the job waits for admission; the reason says why.
	ConditionJobWaitingForResources = "JobWaitingForResources"
	// ConditionJobMiniClusterReady is True while all pods of the job's MiniCluster are ready.
	ConditionJobMiniClusterReady = "JobMiniClusterReady"
	// ConditionJobRunning is True while the command runs.
	ConditionJobRunning = "JobRunning"
	// ConditionJobFinished is True once the job has ended, with the reason Succeeded or the reason of the failure.
	ConditionJobFinished = "JobFinished"
	// ConditionPriorityLimited is True while spec.priority exceeds the limit of the namespace, and absent otherwise.
	ConditionPriorityLimited = "PriorityLimited"
)

// Reasons of a FluxJob's conditions and events, besides those of a MiniCluster, Queued, InvalidSpec,
// SpecChanged and Terminating.
const (
	// ReasonRequested: the operator has accepted the job.
	ReasonRequested = "Requested"
	// ReasonWaitingForQuota: the free quota is too small.
	ReasonWaitingForQuota = "WaitingForQuota"
	// ReasonPreempting: the job is admitted when the pods of preempted jobs have terminated.
	ReasonPreempting = "Preempting"
	// ReasonBlockedByHeadOfQueue: the queue is StrictFIFO, and a job before this one waits.
	ReasonBlockedByHeadOfQueue = "BlockedByHeadOfQueue"
	// ReasonBackoff: the job was evicted, and returns to the queue after a delay.
	ReasonBackoff = "Backoff"
	// ReasonQueueNotFound: the FluxSetup of the queue's name doesn't exist.
	ReasonQueueNotFound = "QueueNotFound"
	// ReasonQueueInvalid: the FluxSetup's spec is invalid.
	ReasonQueueInvalid = "QueueInvalid"
	// ReasonQueueStopped: the FluxSetup's stopPolicy admits no job.
	ReasonQueueStopped = "QueueStopped"
	// ReasonNamespaceNotAllowed: the FluxSetup doesn't select this namespace.
	ReasonNamespaceNotAllowed = "NamespaceNotAllowed"
	// ReasonQueueManagedElsewhere: another manager manages the queue and doesn't observe this job.
	ReasonQueueManagedElsewhere = "QueueManagedElsewhere"
	// ReasonExceedsMaximumQuota: the job requests more than the queue can ever give to one job.
	ReasonExceedsMaximumQuota = "ExceedsMaximumQuota"
	// ReasonPreempted: a job of higher priority needs the quota.
	ReasonPreempted = "Preempted"
	// ReasonNotReady: the pods weren't all ready in time.
	ReasonNotReady = "NotReady"
	// ReasonPriorityLimited: spec.priority exceeds the FluxSetup's limit for the namespace, and the limit applies.
	ReasonPriorityLimited = "PriorityLimited"
	// ReasonMiniClusterBlocked: the MiniCluster can't be created until the blocker in the message is removed.
	ReasonMiniClusterBlocked = "MiniClusterBlocked"
	// ReasonMiniClusterDeleted: a user deleted the MiniCluster before its end was recorded.
	ReasonMiniClusterDeleted = "MiniClusterDeleted"
	// ReasonNotFinished: the job has not ended.
	ReasonNotFinished = "NotFinished"
	// ReasonRequeued: the job's pods are gone, and it is in the queue again.
	ReasonRequeued = "Requeued"
)

// FluxJobStatus is the observed state of a FluxJob.
type FluxJobStatus struct {
	// State summarises the job in one word. Requested: its spec is invalid, or its MiniCluster was refused. Suspended:
	// spec.suspend is true. Waiting: it waits for admission. Starting: it is admitted, and its MiniCluster is being
	// created. Ready: all pods are ready. Running: the command runs. Stopping: it was evicted. Succeeded, Failed: it has
	// ended. Terminating: it is being deleted.
	// +optional
	State FluxJobState `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Queue is the name of the FluxSetup, or that of Kueue's queue.
	// +optional
	Queue string `json:"queue,omitempty"`

	// Position is the job's position in the queue; 1 is next. Beyond 100 it is rounded up, to 200, 500, 1000, 2000 and
	// so on, and is updated with some delay. Not set when the job isn't in the queue: it is admitted, has ended, or
	// can't be admitted in its current state.
	// +optional
	Position *int32 `json:"position,omitempty"`

	// Priority is the effective priority in the queue: the job's own or that of the FluxSetup, and at most the
	// FluxSetup's limit for the namespace. Not set without a FluxSetup.
	// +optional
	Priority *int32 `json:"priority,omitempty"`

	// Size is the number of pods of the MiniCluster.
	// +optional
	Size int32 `json:"size,omitempty"`

	// Attempts is the number of the job's current or last attempt. Each reservation of the queue counts, including a
	// reservation that the job declined because it was suspended, changed or moved to another queue at that moment.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`

	// Runs is the former name of attempts. The operator reads it to take over a status of an earlier version, and clears
	// it. v0.2 removes the field.
	// +optional
	Runs int32 `json:"runs,omitempty"`

	// Admission is the reserved quota that the job holds until its pods are gone.
	// +optional
	Admission *FluxAdmission `json:"admission,omitempty"`

	// LastEviction is the reason of the job's last eviction.
	// +optional
	LastEviction *FluxEviction `json:"lastEviction,omitempty"`

	// Requeues is the number of times that the job returned to the queue because its pods weren't ready in time. It is 0
	// again once they were.
	// +optional
	Requeues int32 `json:"requeues,omitempty"`

	// RequeueTime is the time at which the job returns to the queue.
	// +optional
	RequeueTime *metav1.Time `json:"requeueTime,omitempty"`

	// MiniCluster is the name of the job's MiniCluster, once the operator has observed it in the current or last
	// attempt.
	// +optional
	MiniCluster string `json:"miniCluster,omitempty"`

	// Restarts is the number of restarts of the MiniCluster since its creation. spec.backoffLimit limits it.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// ExitCode is the exit code of the command. Not set before the end, nor if the job ended without one: its leader was
	// lost, or the deadline expired.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// StartTime is the time of the first admission.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is the time at which the job ended. Once it is set, nothing is started any more.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Conditions. JobRequested, JobWaitingForResources, JobMiniClusterReady, JobRunning and JobFinished are the steps of
	// a job. Succeeded and Failed appear, as True, at the end. Ready is True once the job has succeeded; its reason says
	// why it is not True yet. Stalled is True when the job can't progress without a user's action. PriorityLimited
	// exists, as True, while spec.priority exceeds the FluxSetup's limit for the namespace.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FluxAdmission is the quota that is reserved for a job.
type FluxAdmission struct {
	// Queue is the FluxSetup that reserved the quota. Empty if Kueue is the queue.
	// +optional
	Queue string `json:"queue,omitempty"`

	// Time is the time of the admission.
	// +required
	Time metav1.Time `json:"time"`

	// Generation is the metadata.generation of the FluxJob whose requests were reserved.
	// +required
	Generation int64 `json:"generation"`

	// Size is the size of the MiniCluster.
	// +required
	Size int32 `json:"size"`

	// Pods is the maximum number of its pods.
	// +required
	Pods int32 `json:"pods"`

	// Resources are the requests of all these pods.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`

	// ReadyTime is the time at which all pods were ready for the first time since the admission.
	// +optional
	ReadyTime *metav1.Time `json:"readyTime,omitempty"`

	// Evicted says that the job must release the reservation, and why.
	// +optional
	Evicted *FluxEviction `json:"evicted,omitempty"`
}
