package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FluxSetup is a queue of FluxJobs and their shared quota. A FluxJob names it in spec.queue, and runs when the quota
// allows the whole job. Deleting a FluxSetup, or lowering its quota, stops no running job; waiting jobs continue to
// wait.
//
// The quota limits FluxJobs only. A user who may create Pods, Jobs or MiniClusters can run them outside the queue. To
// limit these, set a ResourceQuota on the namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=fs
// +kubebuilder:printcolumn:name="Strategy",type=string,JSONPath=".spec.queueingStrategy"
// +kubebuilder:printcolumn:name="Cohort",type=string,JSONPath=".spec.cohort"
// +kubebuilder:printcolumn:name="Pending",type=integer,JSONPath=".status.pendingWorkloads"
// +kubebuilder:printcolumn:name="Admitted",type=integer,JSONPath=".status.admittedWorkloads"
// +kubebuilder:printcolumn:name="Oldest-Pending",type=date,JSONPath=".status.oldestPendingTime"
// +kubebuilder:printcolumn:name="Manager",type=string,priority=1,JSONPath=".status.manager.name"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.size() <= 63",optionalOldSelf=true,message="metadata.name must be at most 63 characters: it is a label of the MiniClusters"
type FluxSetup struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state: the quota of the queue, and the jobs that may use it.
	// +optional
	Spec FluxSetupSpec `json:"spec,omitzero"`

	// Status is the observed state: the reservations of the queue, and its waiting jobs. The operator writes it, and
	// records its reservations there.
	// +optional
	Status FluxSetupStatus `json:"status,omitzero"`
}

// Conditions returns a pointer to the conditions in the status.
func (s *FluxSetup) Conditions() *[]metav1.Condition { return &s.Status.Conditions }

// QueueingStrategy defines the admission of jobs behind a waiting job.
// +kubebuilder:validation:Enum=StrictFIFO;BestEffortFIFO
type QueueingStrategy string

// The queueing strategies.
const (
	// StrictFIFO: all jobs behind a waiting job wait.
	StrictFIFO QueueingStrategy = "StrictFIFO"
	// BestEffortFIFO: a job that fits may overtake a waiting job.
	BestEffortFIFO QueueingStrategy = "BestEffortFIFO"
)

// PreemptionPolicy defines the jobs that a job may preempt.
// +kubebuilder:validation:Enum=Never;LowerPriority
type PreemptionPolicy string

// The preemption policies.
const (
	// PreemptionNever: none.
	PreemptionNever PreemptionPolicy = "Never"
	// PreemptionLowerPriority: jobs of a lower priority.
	PreemptionLowerPriority PreemptionPolicy = "LowerPriority"
)

// StopPolicy stops a queue.
// +kubebuilder:validation:Enum=None;Hold;HoldAndDrain
type StopPolicy string

// The stop policies.
const (
	// StopNone: the queue admits jobs.
	StopNone StopPolicy = "None"
	// StopHold: no job is admitted, and running jobs continue.
	StopHold StopPolicy = "Hold"
	// StopHoldAndDrain: no job is admitted, and running jobs are stopped and return to the queue.
	StopHoldAndDrain StopPolicy = "HoldAndDrain"
)

// FluxSetupSpec is the desired state of a queue.
//
// +kubebuilder:validation:XValidation:rule="(has(self.cohort) && self.cohort != \"\") || (!has(self.borrowingLimit) && !has(self.lendingLimit))",message="borrowingLimit and lendingLimit mean nothing without a cohort"
type FluxSetupSpec struct {
	// MiniCluster limits the sizes of the jobs' MiniClusters.
	// +optional
	MiniCluster FluxSetupMiniCluster `json:"miniCluster,omitzero"`

	// Quota is the quota that all jobs of this queue share. A resource without an entry isn't limited.
	// +optional
	Quota FluxQuota `json:"quota,omitzero"`

	// Cohort is the name of a group of FluxSetups that lend each other their unused quota. Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cohort string `json:"cohort,omitempty"`

	// BorrowingLimit is the maximum quota that this queue may borrow from the others of the cohort. A resource without
	// an entry isn't limited. Default: all that the others lend.
	// +optional
	BorrowingLimit *FluxQuota `json:"borrowingLimit,omitempty"`

	// LendingLimit is the maximum quota that the others of the cohort may borrow; the rest is always available to this
	// queue. A resource without an entry isn't limited. Default: all of it.
	// +optional
	LendingLimit *FluxQuota `json:"lendingLimit,omitempty"`

	// NamespaceSelector selects, by their labels, the namespaces whose FluxJobs may use this queue. Jobs of other
	// namespaces wait, with reason NamespaceNotAllowed. Default: all namespaces.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// QueueingStrategy is StrictFIFO: all jobs behind a waiting job wait; or BestEffortFIFO, the default: a job that
	// fits may overtake it. Both order jobs by priority, then by creation time. A job that exceeds the whole quota
	// blocks no other job.
	// +optional
	// +kubebuilder:default=BestEffortFIFO
	QueueingStrategy QueueingStrategy `json:"queueingStrategy,omitempty"`

	// Priority is the priority of jobs that don't set their own, and the limit for namespaces that no entry of
	// priorityLimits selects. A higher priority is admitted first. Default: 0.
	// +optional
	Priority int32 `json:"priority,omitempty"`

	// PriorityLimits limit the priorities of jobs by the labels of their namespaces. The first entry that selects a
	// namespace applies to it; without one, the limit is priority. Therefore, without entries a job may only lower its
	// priority, and no namespace can overtake another, or preempt its jobs. A job that requests more gets the limit, and
	// its condition PriorityLimited says so. A change takes effect at once, also on running jobs. Default: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	PriorityLimits []FluxPriorityLimit `json:"priorityLimits,omitempty"`

	// Preemption is Never, the default, or LowerPriority: a job that doesn't fit may preempt jobs of a lower priority,
	// of its own queue, and of the cohort if they borrow quota of this queue. The operator preempts as few jobs as
	// necessary, of the lowest priority and the newest. They are stopped gracefully and return to the queue.
	// +optional
	// +kubebuilder:default=Never
	Preemption PreemptionPolicy `json:"preemption,omitempty"`

	// Readiness limits the time from admission until all pods of a job are ready. Default: no limit.
	// +optional
	Readiness *FluxReadiness `json:"readiness,omitempty"`

	// StopPolicy is None, the default; Hold, which admits no job; or HoldAndDrain, which also stops running jobs and
	// returns them to the queue.
	// +optional
	// +kubebuilder:default=None
	StopPolicy StopPolicy `json:"stopPolicy,omitempty"`
}

// FluxPriorityLimit limits the priority of the jobs of some namespaces.
type FluxPriorityLimit struct {
	// NamespaceSelector selects the namespaces by their labels. Default: all namespaces.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// Max is the highest priority. It may be below that of the FluxSetup, and then also applies to jobs without a
	// priority.
	// +required
	Max int32 `json:"max"`
}

// FluxSetupMiniCluster limits the sizes of the jobs' MiniClusters.
//
// +kubebuilder:validation:XValidation:rule="!has(self.size) || !has(self.maxSize) || self.size <= self.maxSize",fieldPath=".size",message="must be at most maxSize: a FluxJob gets this size if it asks for none"
type FluxSetupMiniCluster struct {
	// Size is the size of jobs without one, in pods. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Size *int32 `json:"size,omitempty"`

	// MaxSize is the maximum size of a job, also after scaling, in pods. Larger jobs wait, with reason
	// ExceedsMaximumQuota, until a user changes them or this. Default: no limit but the quota.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxSize *int32 `json:"maxSize,omitempty"`
}

// FluxQuota is an amount of the resources that jobs request.
type FluxQuota struct {
	// MiniClusters is a number of MiniClusters: one for each job.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MiniClusters *int32 `json:"miniClusters,omitempty"`

	// Pods is a number of pods: the size of each MiniCluster, or its maxSize if it may grow, and one more if it has
	// services.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Pods *int32 `json:"pods,omitempty"`

	// Resources are sums of the pods' requests: cpu, memory, ephemeral-storage, and GPUs and others by their full names,
	// such as nvidia.com/gpu. An unknown name without a domain makes the FluxSetup invalid, because such names are
	// reserved for Kubernetes.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// FluxReadiness limits the time from admission until all pods of a job are ready. A job that takes longer is stopped and
// returns to the queue, where it waits for backoffSeconds, doubled each time, at most backoffMaxSeconds. After that it
// gets a new position, behind earlier jobs of its priority.
//
// +kubebuilder:validation:XValidation:rule="self.backoffSeconds <= self.backoffMaxSeconds",message="backoffSeconds is over backoffMaxSeconds"
type FluxReadiness struct {
	// TimeoutSeconds is the maximum time from admission until all pods are ready for the first time, in seconds.
	// +required
	// +kubebuilder:validation:Minimum=1
	TimeoutSeconds int32 `json:"timeoutSeconds"`

	// BackoffSeconds is the first waiting time, in seconds. Default: 60.
	// +optional
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=1
	BackoffSeconds int32 `json:"backoffSeconds,omitempty"`

	// BackoffMaxSeconds is the maximum waiting time, in seconds. Default: 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	BackoffMaxSeconds int32 `json:"backoffMaxSeconds,omitempty"`

	// RequeueLimit is the maximum number of returns to the queue; after them the job fails, with reason NotReady.
	// Default: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RequeueLimit *int32 `json:"requeueLimit,omitempty"`
}

// FluxSetupList is a list of FluxSetups.
//
// +kubebuilder:object:root=true
type FluxSetupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []FluxSetup `json:"items"`
}
