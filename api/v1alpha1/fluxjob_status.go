package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FluxJobState sums up a FluxJob in one word.
// +kubebuilder:validation:Enum=Requested;Suspended;Waiting;Starting;Ready;Running;Stopping;Succeeded;Failed;Terminating
type FluxJobState string

// The states of a FluxJob.
const (
	// FluxJobRequested: the job was seen, and its spec is invalid, or its MiniCluster was refused.
	FluxJobRequested FluxJobState = "Requested"
	// FluxJobSuspended: spec.suspend is true, and it holds nothing of the quota.
	FluxJobSuspended FluxJobState = "Suspended"
	// FluxJobWaiting: it waits for its share of the quota.
	FluxJobWaiting FluxJobState = "Waiting"
	// FluxJobStarting: it has its share, and the MiniCluster is being made.
	FluxJobStarting FluxJobState = "Starting"
	// FluxJobReady: all pods of the MiniCluster are ready.
	FluxJobReady FluxJobState = "Ready"
	// FluxJobRunning: the command runs.
	FluxJobRunning FluxJobState = "Running"
	// FluxJobStopping: it has to give its share back, and its pods are being stopped.
	FluxJobStopping FluxJobState = "Stopping"
	// FluxJobSucceeded: the command ended with exit code 0. This is final.
	FluxJobSucceeded FluxJobState = "Succeeded"
	// FluxJobFailed: the command failed, or there was no way to run it to its end. This is final.
	FluxJobFailed FluxJobState = "Failed"
	// FluxJobTerminating: the FluxJob is being deleted.
	FluxJobTerminating FluxJobState = "Terminating"
)

// Types of a FluxJob's conditions, besides Ready, Stalled, Succeeded and Failed: the states of the original design.
const (
	// ConditionJobRequested is True once the job was seen and its spec is valid.
	ConditionJobRequested = "JobRequested"
	// ConditionJobWaitingForResources is True while the job waits for its share of the quota, for the reason given.
	ConditionJobWaitingForResources = "JobWaitingForResources"
	// ConditionJobMiniClusterReady is True while all pods of the job's MiniCluster are ready.
	ConditionJobMiniClusterReady = "JobMiniClusterReady"
	// ConditionJobRunning is True while the command runs.
	ConditionJobRunning = "JobRunning"
	// ConditionJobFinished is True once the job has ended: well, with reason Succeeded, or with the reason why it failed.
	ConditionJobFinished = "JobFinished"
	// ConditionPriorityLimited is True while spec.priority is over the limit of the namespace, and absent otherwise.
	ConditionPriorityLimited = "PriorityLimited"
)

// Reasons of a FluxJob's conditions and events, besides those of a MiniCluster, InvalidSpec, SpecChanged and Terminating.
const (
	// ReasonRequested: the job was seen.
	ReasonRequested = "Requested"
	// ReasonInLine: the job waits for its turn.
	ReasonInLine = "InLine"
	// ReasonQuotaExceeded: there isn't enough left of the quota.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonMakingRoom: there is room once others are gone.
	ReasonMakingRoom = "MakingRoom"
	// ReasonBehindOthers: the queue is StrictFIFO, and a job before this one waits.
	ReasonBehindOthers = "BehindOthers"
	// ReasonBackoff: the job was evicted, and waits for a while before it lines up again.
	ReasonBackoff = "Backoff"
	// ReasonQueueNotFound: there is no FluxSetup of the queue's name.
	ReasonQueueNotFound = "QueueNotFound"
	// ReasonQueueInvalid: the FluxSetup's spec is invalid.
	ReasonQueueInvalid = "QueueInvalid"
	// ReasonQueueStopped: the FluxSetup's stopPolicy admits no one.
	ReasonQueueStopped = "QueueStopped"
	// ReasonNamespaceNotAllowed: the FluxSetup isn't for this namespace.
	ReasonNamespaceNotAllowed = "NamespaceNotAllowed"
	// ReasonQueueManagedElsewhere: another manager has the queue, and it doesn't see this job.
	ReasonQueueManagedElsewhere = "QueueManagedElsewhere"
	// ReasonTooLarge: the job needs more than the queue could give if nothing else ran.
	ReasonTooLarge = "TooLarge"
	// ReasonPreempted: a job of higher priority needs the room.
	ReasonPreempted = "Preempted"
	// ReasonNotReady: the pods weren't all ready in time.
	ReasonNotReady = "NotReady"
	// ReasonPriorityLimited: spec.priority is over what the FluxSetup lets jobs of the namespace have, and counts as that.
	ReasonPriorityLimited = "PriorityLimited"
	// ReasonMiniClusterBlocked: the MiniCluster can't be made as long as something is in its way.
	ReasonMiniClusterBlocked = "MiniClusterBlocked"
	// ReasonMiniClusterDeleted: the MiniCluster was deleted by someone else before its end was recorded.
	ReasonMiniClusterDeleted = "MiniClusterDeleted"
	// ReasonNotAdmitted: the job isn't admitted, so there is no MiniCluster, or it is suspended.
	ReasonNotAdmitted = "NotAdmitted"
	// ReasonNotFinished: the job has not ended.
	ReasonNotFinished = "NotFinished"
	// ReasonStopping: the job's pods are being stopped.
	ReasonStopping = "Stopping"
	// ReasonRequeued: the job's pods are gone, and it is in the queue again.
	ReasonRequeued = "Requeued"
)

// FluxJobStatus is how far a FluxJob has come.
type FluxJobStatus struct {
	// State sums up the job in one word. Requested: its spec is invalid, or its MiniCluster was refused. Suspended: by spec.suspend. Waiting: for its share
	// of the quota. Starting: it has it, and its MiniCluster is being made. Ready: all pods are ready. Running: the
	// command runs. Stopping: it has to give its share back. Succeeded, Failed: it has ended. Terminating: it is being
	// deleted.
	// +optional
	State FluxJobState `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Queue is the name of the FluxSetup, or that of Kueue's queue.
	// +optional
	Queue string `json:"queue,omitempty"`

	// Position is the job's place among those that wait; 1 is next. Beyond 100 it is rounded up, to 200, 500, 1000, 2000
	// and so on, and follows with some delay. Not set when the job doesn't wait in the line: it is admitted, has ended,
	// or can't be admitted as it is.
	// +optional
	Position *int32 `json:"position,omitempty"`

	// Priority is the one that counts in the queue: the job's own or that of the FluxSetup, and at most what the FluxSetup
	// lets jobs of the namespace have. Not set without a FluxSetup.
	// +optional
	Priority *int32 `json:"priority,omitempty"`

	// Size is how many pods the MiniCluster has, or will have.
	// +optional
	Size int32 `json:"size,omitempty"`

	// Runs is the number of the job's present or last run. Each share that a queue has reserved for it counts, also one
	// that it declined because it was suspended, changed or moved to another queue at that moment.
	// +optional
	Runs int32 `json:"runs,omitempty"`

	// Admission is the share of the quota that the job holds, until its pods are gone.
	// +optional
	Admission *FluxAdmission `json:"admission,omitempty"`

	// LastEviction is why the job had to give its share back the last time.
	// +optional
	LastEviction *FluxEviction `json:"lastEviction,omitempty"`

	// Requeues is how often the job went back into the queue because its pods weren't ready in time. It is 0 again once
	// they were.
	// +optional
	Requeues int32 `json:"requeues,omitempty"`

	// RequeueTime is when the job lines up again after that.
	// +optional
	RequeueTime *metav1.Time `json:"requeueTime,omitempty"`

	// MiniCluster is the name of the job's MiniCluster, once it has been seen in the present or last run.
	// +optional
	MiniCluster string `json:"miniCluster,omitempty"`

	// Restarts is how often the MiniCluster was started again since it was made. spec.backoffLimit bounds it.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// ExitCode is that of the command. Not set before the end, nor if the job ended without one: its leader was lost, or
	// the deadline came.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// StartTime is when the job was admitted for the first time.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the job ended. Once it is set nothing is started any more.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Conditions. JobRequested, JobWaitingForResources, JobMiniClusterReady, JobRunning and JobFinished are the steps of a
	// job. Succeeded and Failed appear, as True, at the end. Ready is True once the job has succeeded, and says in its
	// reason why not yet. Stalled is True when nothing more will happen by itself. PriorityLimited is there, as True, while
	// spec.priority is more than the FluxSetup lets jobs of the namespace have.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FluxAdmission is the share of a quota that a job holds.
type FluxAdmission struct {
	// Queue is the FluxSetup that gave it. Empty if Kueue is the queue.
	// +optional
	Queue string `json:"queue,omitempty"`

	// Time is when it was given.
	// +required
	Time metav1.Time `json:"time"`

	// Generation is the metadata.generation of the FluxJob whose needs were reserved.
	// +required
	Generation int64 `json:"generation"`

	// Size is that of the MiniCluster.
	// +required
	Size int32 `json:"size"`

	// Pods is how many pods it has at the most.
	// +required
	Pods int32 `json:"pods"`

	// Resources are what all these pods request.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`

	// ReadyTime is when all pods were ready for the first time since the admission.
	// +optional
	ReadyTime *metav1.Time `json:"readyTime,omitempty"`

	// Evicted says that the share must be given back, and why.
	// +optional
	Evicted *FluxEviction `json:"evicted,omitempty"`
}
