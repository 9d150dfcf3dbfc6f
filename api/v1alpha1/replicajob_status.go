package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReplicaJobState summarises the progress of a replica job in one word.
// +kubebuilder:validation:Enum=Created;Running;Restarting;Suspended;Succeeded;Failed;Terminating
type ReplicaJobState string

// The states of a replica job. Each but the first and the last is that of the condition of the same name.
const (
	// ReplicaJobCreated: nothing is running yet, or any more.
	ReplicaJobCreated ReplicaJobState = "Created"
	// ReplicaJobRunning: at least one replica is running.
	ReplicaJobRunning ReplicaJobState = "Running"
	// ReplicaJobRestarting: replicas are being recreated, and not all are running again.
	ReplicaJobRestarting ReplicaJobState = "Restarting"
	// ReplicaJobSuspended: the job is suspended and has no pods.
	ReplicaJobSuspended ReplicaJobState = "Suspended"
	// ReplicaJobSucceeded: the deciding replicas have succeeded. This is final.
	ReplicaJobSucceeded ReplicaJobState = "Succeeded"
	// ReplicaJobFailed: the job has failed. This is final.
	ReplicaJobFailed ReplicaJobState = "Failed"
	// ReplicaJobTerminating: the job is being deleted.
	ReplicaJobTerminating ReplicaJobState = "Terminating"
)

// Types of a replica job's conditions, besides Ready, Stalled, Suspended, Succeeded and Failed.
const (
	// ConditionCreated is True once the operator has accepted the job as valid.
	ConditionCreated = "Created"
	// ConditionRunning is True while replicas are running and none is being restarted.
	ConditionRunning = "Running"
	// ConditionRestarting is True from a restart until all replicas run again. It is never True with Running.
	ConditionRestarting = "Restarting"
)

// Reasons of a replica job's conditions and events. Those of other kinds (ReasonStarted, ReasonRunning, ReasonSucceeded,
// ReasonInvalidSpec, ReasonChangeIgnored, ReasonSuspended, ReasonResumed, ReasonDeadlineExceeded) are used as well.
const (
	// ReasonCreated: the operator has accepted the job as valid.
	ReasonCreated = "Created"
	// ReasonNotRunning: no replica is running.
	ReasonNotRunning = "NotRunning"
	// ReasonReplicaRestarting: a replica failed and is being recreated.
	ReasonReplicaRestarting = "ReplicaRestarting"
	// ReasonJobRestarting: a replica failed, and all are being recreated.
	ReasonJobRestarting = "JobRestarting"
	// ReasonRestarted: all replicas run again after a restart.
	ReasonRestarted = "Restarted"
	// ReasonSuspending: the job is being suspended, or is resumed after a suspension, and some of its pods still exist.
	ReasonSuspending = "Suspending"
	// ReasonReplicaFailed: a replica failed, and its restartPolicy allows no further attempt.
	ReasonReplicaFailed = "ReplicaFailed"
	// ReasonFailureRule: a replica failed, and a rule of the failurePolicy fails the job.
	ReasonFailureRule = "FailureRule"
	// ReasonBackoffLimitExceeded: there were more restarts of replicas than runPolicy.backoffLimit.
	ReasonBackoffLimitExceeded = "BackoffLimitExceeded"
	// ReasonMaxRestartsExceeded: there were more restarts of the job than failurePolicy.maxRestarts.
	ReasonMaxRestartsExceeded = "MaxRestartsExceeded"
	// ReasonNoGangScheduler: the cluster lacks the API of the gang scheduler in the spec.
	ReasonNoGangScheduler = "NoGangScheduler"
)

// ReplicaJobStatus is the observed state of a replica job: of ReplicaJob itself, and of the kinds written with its
// engine.
//
// Counts may lag a few seconds while replicas start and end; conditions, restarts and ends are written at once.
type ReplicaJobStatus struct {
	// State summarises the job in one word. Created: nothing is running. Running: replicas are running. Restarting:
	// replicas are being recreated. Suspended: the job is suspended, and has no pods. Succeeded, Failed: it has ended,
	// which is final; or it has never been valid, which is Failed until the spec is fixed.
	// +optional
	State ReplicaJobState `json:"state,omitempty"`

	// ObservedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// StartTime is the time at which the job was first valid, or was last resumed. Not set while it is suspended.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is the time at which the job ended: when the last deciding pod ended, or when the deadline expired.
	// Once it is set, the job doesn't run again.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Restarts is the number of restarts of the whole job. Its pods have it as the label
	// api.practice.com/restart-attempt.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// RestartsTowardsMax is the number of these restarts that count against failurePolicy.maxRestarts.
	// +optional
	RestartsTowardsMax int32 `json:"restartsTowardsMax,omitempty"`

	// TotalRestarts is the number of all restarts: of the whole job, and of replicas, as replicaStatuses count them.
	// +optional
	// +kubebuilder:default=0
	TotalRestarts int32 `json:"totalRestarts"`

	// Conditions. Created, Running, Restarting, Suspended, Succeeded and Failed describe the progress of the job. Ready
	// is True once it has succeeded; its reason says why it is not True yet. Stalled is True when the job can't progress
	// without a user's action.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ReplicaStatuses are the replicas by type, in the spelling of the spec.
	// +optional
	ReplicaStatuses map[ReplicaType]ReplicaStatus `json:"replicaStatuses,omitempty"`
}

// ReplicaStatus is the observed state of the replicas of one type. Active, pending, succeeded and failed add up to the
// replicas of the spec while the job runs.
type ReplicaStatus struct {
	// Active is the number of running replicas.
	// +optional
	Active int32 `json:"active,omitempty"`

	// Pending is the number of replicas that have neither started nor ended: their pods wait for a node or an image, are
	// about to be created, or wait for the dependencies of their type.
	// +optional
	Pending int32 `json:"pending,omitempty"`

	// Succeeded is the number of succeeded replicas.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`

	// Failed is the number of failed replicas that have not been recreated (yet).
	// +optional
	Failed int32 `json:"failed,omitempty"`

	// Restarts is the number of restarts of this type's replicas that count against runPolicy.backoffLimit: recreated
	// pods, and containers restarted in place.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// ReplicaRestarts are the restarts of each replica, by index, since the last restart of the whole job, including
	// those that a rule ignores. Replicas without restarts are left out. The pod has the number at its creation as the
	// label api.practice.com/restarts.
	// +optional
	ReplicaRestarts map[string]int32 `json:"replicaRestarts,omitempty"`

	// SucceededIndexes are the indexes that have succeeded, such as "0-4,7". They don't run again, even if their pods
	// are deleted, unless the job restarts as a whole or is suspended.
	// +optional
	SucceededIndexes string `json:"succeededIndexes,omitempty"`

	// Selector selects the pods of this type, as a label selector string.
	// +optional
	Selector string `json:"selector,omitempty"`
}
