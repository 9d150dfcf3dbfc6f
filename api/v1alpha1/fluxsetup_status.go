package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Bounds of what a FluxSetup's status lists, so that it stays well below the size that the API server accepts.
const (
	// MaxFluxReservations is the most jobs that one FluxSetup admits at a time, whatever its quota.
	MaxFluxReservations = 3000
	// MaxFluxLine is how many of the waiting jobs have their exact place in the status.
	MaxFluxLine = 100
)

// Reasons of a FluxSetup's condition Ready and of its events, besides InvalidSpec and Terminating.
const (
	// ReasonOpen: the queue admits jobs.
	ReasonOpen = "Open"
	// ReasonHeld: stopPolicy is Hold or HoldAndDrain.
	ReasonHeld = "Held"
	// ReasonReservationsFull: as many jobs are admitted as the status can list.
	ReasonReservationsFull = "ReservationsFull"
	// ReasonTakenOver: another manager has the queue from now on.
	ReasonTakenOver = "TakenOver"
)

// FluxSetupStatus is what a queue has given, and who waits.
type FluxSetupStatus struct {
	// ObservedGeneration is the metadata.generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Manager is the manager that has this queue: it alone admits and evicts jobs, and says all of this status. Other
	// managers refuse the queue, and keep only the reservations of the jobs that they see, and this one doesn't, up to date.
	// +optional
	Manager *FluxSetupManager `json:"manager,omitempty"`

	// Pending is how many jobs wait in this queue, those that can't be admitted as they are included; but not those of
	// namespaces that namespaceSelector doesn't select.
	// +kubebuilder:default=0
	// +optional
	Pending int32 `json:"pending"`

	// Admitted is how many jobs hold a reservation.
	// +kubebuilder:default=0
	// +optional
	Admitted int32 `json:"admitted"`

	// LongestWaitSince is when the one of the pending jobs was created that has waited the longest.
	// +optional
	LongestWaitSince *metav1.Time `json:"longestWaitSince,omitempty"`

	// Usage is, of each resource that the quota limits, what is used and free.
	// +optional
	// +listType=map
	// +listMapKey=name
	Usage []FluxResourceUsage `json:"usage,omitempty"`

	// Reservations are the jobs that hold a share of the quota, from before anything of them is made until their pods
	// are gone. This list is the queue's book: it is written in one request, which is refused if someone else wrote in
	// between, so that nothing is given twice.
	// +optional
	// +listType=atomic
	Reservations []FluxReservation `json:"reservations,omitempty"`

	// Line is the first of the waiting jobs, at most 100, the next one first.
	// +optional
	// +listType=atomic
	Line []FluxLinePlace `json:"line,omitempty"`

	// Marks are the waiting jobs at the positions 200, 500, 1000 and so on. From them the others know about where they
	// are in the line.
	// +optional
	// +listType=atomic
	Marks []FluxLineMark `json:"marks,omitempty"`

	// Conditions. Ready is True while the queue admits jobs, and says in its reason why not. Stalled is True when the spec
	// is invalid: then no one is admitted, and what runs goes on.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FluxSetupManager is a manager that has a queue, and what it sees of the cluster.
type FluxSetupManager struct {
	// Name is that of the installation: the namespace and the name of the lease by which its managers elect their leader.
	// Whoever may change the status can give the queue to another manager by its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Namespaces are those that it watches. Empty: all.
	// +optional
	// +listType=atomic
	Namespaces []string `json:"namespaces,omitempty"`

	// Selector is the label selector of the objects that it works on. Empty: all.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Takeover is the last request of another manager to have the queue. The manager that has it declines, as long as it
	// runs; a request that isn't declined in time is granted.
	// +optional
	Takeover *FluxSetupTakeover `json:"takeover,omitempty"`
}

// FluxSetupTakeover is a manager's request to have a queue that another one has.
type FluxSetupTakeover struct {
	// By is the name of the manager that has jobs for the queue.
	// +required
	By string `json:"by"`

	// Time is when it requested the queue, by its own clock.
	// +required
	Time metav1.Time `json:"time"`

	// Declined says that the manager that has the queue has answered.
	// +optional
	Declined bool `json:"declined,omitempty"`
}

// FluxResourceUsage is how much of a resource is used.
type FluxResourceUsage struct {
	// Name is miniClusters, pods, or the name of a resource.
	// +required
	Name string `json:"name"`

	// Quota is what the spec grants.
	// +required
	Quota resource.Quantity `json:"quota"`

	// Used is what the reservations hold.
	// +required
	Used resource.Quantity `json:"used"`

	// Free is what could be given now, of the quota and of what can be borrowed.
	// +required
	Free resource.Quantity `json:"free"`

	// Largest is the most that one job could ever get: the quota and what can be borrowed at best. A job that needs more
	// waits in vain, with reason TooLarge.
	// +required
	Largest resource.Quantity `json:"largest"`
}

// FluxReservation is a job's share of the quota.
type FluxReservation struct {
	// Namespace of the FluxJob.
	// +required
	Namespace string `json:"namespace"`

	// Name of the FluxJob.
	// +required
	Name string `json:"name"`

	// UID of the FluxJob. One of the same name that is created later is another job.
	// +required
	UID types.UID `json:"uid"`

	// Run is which admission of the job this is: its first is 1.
	// +required
	Run int32 `json:"run"`

	// Time is when it was admitted.
	// +required
	Time metav1.Time `json:"time"`

	// Generation is the metadata.generation of the FluxJob whose needs were reserved.
	// +required
	Generation int64 `json:"generation"`

	// Size is that of the job's MiniCluster.
	// +required
	Size int32 `json:"size"`

	// Pods is how many pods it has at the most.
	// +required
	Pods int32 `json:"pods"`

	// Resources are what all these pods request.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`

	// Evicted says that the job must give its share back, and why. It holds it until its pods are gone.
	// +optional
	Evicted *FluxEviction `json:"evicted,omitempty"`
}

// FluxEviction is why a job had to give its share back.
type FluxEviction struct {
	// Reason is Preempted, NotReady, QueueStopped, Suspended or SpecChanged.
	// +required
	Reason string `json:"reason"`

	// Message says more.
	// +optional
	Message string `json:"message,omitempty"`

	// Time is when it was decided.
	// +required
	Time metav1.Time `json:"time"`
}

// FluxLinePlace is a waiting job.
type FluxLinePlace struct {
	// Namespace of the FluxJob.
	// +required
	Namespace string `json:"namespace"`

	// Name of the FluxJob.
	// +required
	Name string `json:"name"`

	// Reason is why it waits: QuotaExceeded, MakingRoom, BehindOthers, Backoff or QueueStopped.
	// +required
	Reason string `json:"reason"`

	// Resource is the one that there isn't enough of, if that is the reason.
	// +optional
	Resource string `json:"resource,omitempty"`
}

// FluxLineMark is the job at a position of the line, and what its place is due to.
type FluxLineMark struct {
	// Position in the line.
	// +required
	Position int32 `json:"position"`

	// Priority of the job.
	// +optional
	Priority int32 `json:"priority,omitempty"`

	// Since is when the job lined up.
	// +required
	Since metav1.Time `json:"since"`

	// Namespace of the FluxJob.
	// +required
	Namespace string `json:"namespace"`

	// Name of the FluxJob.
	// +required
	Name string `json:"name"`
}
