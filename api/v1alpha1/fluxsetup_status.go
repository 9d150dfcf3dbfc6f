package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Limits of the lists in a FluxSetup's status, so that it stays well below the size limit of the API server.
const (
	// MaxFluxReservations is the maximum number of jobs that one FluxSetup admits at a time, regardless of its quota. They are
	// fewer if their reservations name many resources.
	MaxFluxReservations = 3000
	// MaxFluxQueueEntries is the maximum number of waiting jobs that the status lists one by one.
	MaxFluxQueueEntries = 100
)

// Reasons of a FluxSetup's condition Ready and of its events, besides InvalidSpec.
const (
	// ReasonActive: the queue admits jobs.
	ReasonActive = "Active"
	// ReasonStopped: stopPolicy is Hold or HoldAndDrain.
	ReasonStopped = "Stopped"
	// ReasonReservationsFull: the status can't record the reservations of all waiting jobs. It is also the reason of such a
	// FluxJob.
	ReasonReservationsFull = "ReservationsFull"
	// ReasonTakenOver: another manager manages the queue from now on.
	ReasonTakenOver = "TakenOver"
)

// FluxSetupStatus is the observed state of a queue: its reservations and its waiting jobs.
type FluxSetupStatus struct {
	// ObservedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Manager is the manager of this queue: it alone admits and evicts jobs, and writes this status. Other managers
	// refuse the queue, and only keep the reservations of jobs up to date that they observe and this manager doesn't.
	// +optional
	Manager *FluxSetupManager `json:"manager,omitempty"`

	// PendingWorkloads is the number of jobs that wait in this queue, including jobs that can't be admitted in their current
	// state, but not those of namespaces that namespaceSelector doesn't select.
	// +kubebuilder:default=0
	// +optional
	PendingWorkloads int32 `json:"pendingWorkloads"`

	// AdmittedWorkloads is the number of jobs with a reservation.
	// +kubebuilder:default=0
	// +optional
	AdmittedWorkloads int32 `json:"admittedWorkloads"`

	// OldestPendingTime is the creation time of the pending job that has waited the longest.
	// +optional
	OldestPendingTime *metav1.Time `json:"oldestPendingTime,omitempty"`

	// Usage is the used and free quota of each limited resource.
	// +optional
	// +listType=map
	// +listMapKey=name
	Usage []FluxResourceUsage `json:"usage,omitempty"`

	// Reservations are the jobs with reserved quota, from before the creation of their MiniCluster until their pods are
	// gone. The manager writes the list in one request, which the API server refuses after a concurrent write, so that
	// no quota is reserved twice.
	// +optional
	// +listType=atomic
	Reservations []FluxReservation `json:"reservations,omitempty"`

	// Queue are the first of the waiting jobs, at most 100, the next one first.
	// +optional
	// +listType=atomic
	Queue []FluxQueueEntry `json:"queue,omitempty"`

	// Line is the former name of queue. The operator reads it to take over a status of an earlier version, and clears
	// it. v0.2 removes the field.
	// +optional
	// +listType=atomic
	Line []FluxQueueEntry `json:"line,omitempty"`

	// QueuePositions are the waiting jobs at the positions 200, 500, 1000 and so on. The jobs between them derive their
	// approximate position from them.
	// +optional
	// +listType=atomic
	QueuePositions []FluxQueuePosition `json:"queuePositions,omitempty"`

	// Conditions. Ready is True while the queue admits jobs; otherwise its reason says why not. Stalled is True when the
	// spec is invalid: no job is admitted then, and running jobs continue.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FluxSetupManager is the manager of a queue, and the part of the cluster that it observes.
type FluxSetupManager struct {
	// Name identifies the installation: the namespace and the name of the lease by which its managers elect their
	// leader. A user who may change the status can assign the queue to another manager by its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Namespaces are the namespaces that it watches. Empty: all.
	// +optional
	// +listType=atomic
	Namespaces []string `json:"namespaces,omitempty"`

	// Selector is the label selector of its objects. Empty: all.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Takeover is the last request of another manager for the queue. The current manager declines it while it runs; a
	// request that isn't declined in time is granted.
	// +optional
	Takeover *FluxSetupTakeover `json:"takeover,omitempty"`
}

// FluxSetupTakeover is a manager's request for a queue of another manager.
type FluxSetupTakeover struct {
	// By is the name of the manager that has jobs for the queue.
	// +required
	By string `json:"by"`

	// Time is the time of the request, by the clock of the requesting manager.
	// +required
	Time metav1.Time `json:"time"`

	// Declined says that the current manager has declined the request.
	// +optional
	Declined bool `json:"declined,omitempty"`
}

// FluxResourceUsage is the usage of a resource.
type FluxResourceUsage struct {
	// Name is miniClusters, pods, or the name of a resource.
	// +required
	Name string `json:"name"`

	// Quota is the quota in the spec.
	// +required
	Quota resource.Quantity `json:"quota"`

	// Used is the sum of the reservations.
	// +required
	Used resource.Quantity `json:"used"`

	// Free is the quota that is available now, including quota that can be borrowed.
	// +required
	Free resource.Quantity `json:"free"`

	// Maximum is the maximum quota for one job: the quota and the most that can be borrowed. A job that requests more is
	// never admitted, with reason ExceedsMaximumQuota. Usage of an earlier version has largest instead.
	// +optional
	Maximum resource.Quantity `json:"maximum,omitempty"`

	// Largest is the former name of maximum. The operator reads it to take over a status of an earlier version, and
	// clears it. v0.2 removes the field.
	// +optional
	Largest *resource.Quantity `json:"largest,omitempty"`
}

// FluxReservation is the quota that is reserved for a job.
type FluxReservation struct {
	// Namespace of the FluxJob.
	// +required
	Namespace string `json:"namespace"`

	// Name of the FluxJob.
	// +required
	Name string `json:"name"`

	// UID of the FluxJob. A later FluxJob of the same name is a different job.
	// +required
	UID types.UID `json:"uid"`

	// Attempt is the number of this admission of the job; the first is 1. A reservation of an earlier version has run
	// instead.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`

	// Run is the former name of attempt. The operator reads it to take over a status of an earlier version, and clears
	// it. v0.2 removes the field.
	// +optional
	Run int32 `json:"run,omitempty"`

	// Time is the time of the admission.
	// +required
	Time metav1.Time `json:"time"`

	// Generation is the metadata.generation of the FluxJob whose requests were reserved.
	// +required
	Generation int64 `json:"generation"`

	// Size is the size of the job's MiniCluster.
	// +required
	Size int32 `json:"size"`

	// Pods is the maximum number of its pods.
	// +required
	Pods int32 `json:"pods"`

	// Resources are the requests of all these pods.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`

	// Evicted says that the job must release the reservation, and why. It holds it until its pods are gone.
	// +optional
	Evicted *FluxEviction `json:"evicted,omitempty"`
}

// FluxEviction is the reason of a job's eviction.
type FluxEviction struct {
	// Reason is Preempted, NotReady, QueueStopped, Suspended, SpecChanged or InvalidSpec.
	// +required
	Reason string `json:"reason"`

	// Message has details.
	// +optional
	Message string `json:"message,omitempty"`

	// Time is the time of the decision.
	// +required
	Time metav1.Time `json:"time"`
}

// FluxQueueEntry is a waiting job.
type FluxQueueEntry struct {
	// Namespace of the FluxJob.
	// +required
	Namespace string `json:"namespace"`

	// Name of the FluxJob.
	// +required
	Name string `json:"name"`

	// Reason is the reason why it waits: Queued, WaitingForQuota, ReservationsFull, Preempting, BlockedByHeadOfQueue,
	// Backoff or QueueStopped.
	// +required
	Reason string `json:"reason"`

	// Resource is the exhausted resource, if the reason is WaitingForQuota.
	// +optional
	Resource string `json:"resource,omitempty"`
}

// FluxQueuePosition is the job at a position of the queue, with its sort key.
type FluxQueuePosition struct {
	// Position in the queue.
	// +required
	Position int32 `json:"position"`

	// Priority of the job.
	// +optional
	Priority int32 `json:"priority,omitempty"`

	// QueuedTime is the time at which the job joined the queue.
	// +required
	QueuedTime metav1.Time `json:"queuedTime"`

	// Namespace of the FluxJob.
	// +required
	Namespace string `json:"namespace"`

	// Name of the FluxJob.
	// +required
	Name string `json:"name"`
}
