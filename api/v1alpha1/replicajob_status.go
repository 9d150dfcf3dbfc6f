package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReplicaJobState sums up how far a replica job is, in one word.
// +kubebuilder:validation:Enum=Created;Running;Restarting;Suspended;Succeeded;Failed
type ReplicaJobState string

// The states of a replica job. Each but the first is that of the condition of the same name.
const (
	// ReplicaJobCreated: nothing is running yet, or nothing any more.
	ReplicaJobCreated ReplicaJobState = "Created"
	// ReplicaJobRunning: at least one replica is running.
	ReplicaJobRunning ReplicaJobState = "Running"
	// ReplicaJobRestarting: replicas are being made again, and not all are back.
	ReplicaJobRestarting ReplicaJobState = "Restarting"
	// ReplicaJobSuspended: the job is suspended, and none of its pods is left.
	ReplicaJobSuspended ReplicaJobState = "Suspended"
	// ReplicaJobSucceeded: those that decide have succeeded. This is final.
	ReplicaJobSucceeded ReplicaJobState = "Succeeded"
	// ReplicaJobFailed: the job has failed. This is final.
	ReplicaJobFailed ReplicaJobState = "Failed"
)

// Types of a replica job's conditions, besides Ready, Stalled, Suspended, Succeeded and Failed.
const (
	// ConditionCreated is True once the job has been seen and found valid.
	ConditionCreated = "Created"
	// ConditionRunning is True while replicas are running and none is being restarted.
	ConditionRunning = "Running"
	// ConditionRestarting is True from a restart until all replicas are back. It is never True with Running.
	ConditionRestarting = "Restarting"
)

// Reasons of a replica job's conditions and events. Those of other kinds (ReasonStarted, ReasonRunning, ReasonSucceeded,
// ReasonInvalidSpec, ReasonChangeIgnored, ReasonSuspended, ReasonResumed, ReasonDeadlineExceeded) are used as well.
const (
	// ReasonCreated: the job has been seen and found valid.
	ReasonCreated = "Created"
	// ReasonNotRunning: no replica is running.
	ReasonNotRunning = "NotRunning"
	// ReasonReplicaRestarting: a replica failed and is made again.
	ReasonReplicaRestarting = "ReplicaRestarting"
	// ReasonJobRestarting: a replica failed, and all are made again.
	ReasonJobRestarting = "JobRestarting"
	// ReasonRestarted: all replicas are back after a restart.
	ReasonRestarted = "Restarted"
	// ReasonSuspending: the job is to be suspended, or was and is resumed, and its pods are not all gone.
	ReasonSuspending = "Suspending"
	// ReasonReplicaFailed: a replica failed, and its restartPolicy doesn't allow another try.
	ReasonReplicaFailed = "ReplicaFailed"
	// ReasonFailureRule: a replica failed, and a rule of the failurePolicy says that the job fails.
	ReasonFailureRule = "FailureRule"
	// ReasonBackoffLimitExceeded: there were more restarts of replicas than runPolicy.backoffLimit.
	ReasonBackoffLimitExceeded = "BackoffLimitExceeded"
	// ReasonMaxRestartsExceeded: there were more restarts of the job than failurePolicy.maxRestarts.
	ReasonMaxRestartsExceeded = "MaxRestartsExceeded"
	// ReasonNoGangScheduler: the cluster doesn't have the API of the gang scheduler that the spec asks for.
	ReasonNoGangScheduler = "NoGangScheduler"
)

// ReplicaJobStatus is how far a replica job has come: of ReplicaJob itself, and of the kinds written with its engine.
//
// Counts may be a few seconds behind while replicas come and go; conditions, restarts and ends are written at once.
type ReplicaJobStatus struct {
	// State sums up the job in one word. Created: nothing is running. Running: replicas are running. Restarting: replicas
	// are being made again. Suspended: the job is suspended, and has no pods. Succeeded, Failed: it has ended, which is
	// final; or it has never been valid, which is Failed until the spec is mended.
	// +optional
	State ReplicaJobState `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// StartTime is when the job was first found valid, or when it was resumed last. Not set while it is suspended.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the job ended: when the last pod that decided ended, or when the deadline passed. Once it is
	// set, the job is over.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Restarts is how often the whole job was restarted. Its pods have it as the label api.practice.com/restart-attempt.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// RestartsTowardsMax is how many of these count against failurePolicy.maxRestarts.
	// +optional
	RestartsTowardsMax int32 `json:"restartsTowardsMax,omitempty"`

	// TotalRestarts is how many restarts there were: of the whole job, and of replicas, as replicaStatuses count them.
	// +optional
	// +kubebuilder:default=0
	TotalRestarts int32 `json:"totalRestarts"`

	// Conditions. Created, Running, Restarting, Suspended, Succeeded and Failed say how far the job is. Ready is True once
	// it has succeeded, and says in its reason why not yet. Stalled is True when nothing more will happen by itself.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ReplicaStatuses are the replicas by type, in the spelling of the spec.
	// +optional
	ReplicaStatuses map[ReplicaType]ReplicaStatus `json:"replicaStatuses,omitempty"`
}

// ReplicaStatus is how far the replicas of one type have come. Active, pending, succeeded and failed add up to the
// replicas of the spec while the job runs.
type ReplicaStatus struct {
	// Active is how many are running.
	// +optional
	Active int32 `json:"active,omitempty"`

	// Pending is how many have neither started nor ended: their pods wait for a node or an image, are about to be made,
	// or wait for what their type depends on.
	// +optional
	Pending int32 `json:"pending,omitempty"`

	// Succeeded is how many have succeeded.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`

	// Failed is how many have failed and have not been made again (yet).
	// +optional
	Failed int32 `json:"failed,omitempty"`

	// Restarts is how many restarts of this type's replicas there were that count against runPolicy.backoffLimit: pods
	// made again, and containers restarted in place.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// ReplicaRestarts are the restarts of each replica, by index, since the job was last restarted as a whole; those that
	// a rule ignores included. A replica without any is left out. The pod has it as the label api.practice.com/restarts,
	// as it was when the pod was made.
	// +optional
	ReplicaRestarts map[string]int32 `json:"replicaRestarts,omitempty"`

	// SucceededIndexes are the indexes that have succeeded, such as "0-4,7". They don't run again, even if their pods
	// are deleted, unless the job restarts as a whole or is suspended.
	// +optional
	SucceededIndexes string `json:"succeededIndexes,omitempty"`

	// Selector finds the pods of this type, as a label selector in text.
	// +optional
	Selector string `json:"selector,omitempty"`
}
