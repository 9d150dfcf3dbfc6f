package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FluxSetup is a queue of FluxJobs and the quota that they share. A FluxJob names it in spec.queue, and runs when the
// quota has room for all of it. Deleting a FluxSetup, or lowering its quota, stops nothing that runs; jobs that wait go on
// waiting.
//
// The quota bounds what FluxJobs get. It is no wall: who may create Pods, Jobs or MiniClusters can run them beside the
// queue. A ResourceQuota on the namespace is the wall.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=fs
// +kubebuilder:printcolumn:name="Strategy",type=string,JSONPath=".spec.queueingStrategy"
// +kubebuilder:printcolumn:name="Cohort",type=string,JSONPath=".spec.cohort"
// +kubebuilder:printcolumn:name="Pending",type=integer,JSONPath=".status.pending"
// +kubebuilder:printcolumn:name="Admitted",type=integer,JSONPath=".status.admitted"
// +kubebuilder:printcolumn:name="Longest-Wait",type=date,JSONPath=".status.longestWaitSince"
// +kubebuilder:printcolumn:name="Manager",type=string,priority=1,JSONPath=".status.manager.name"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name must be at most 63 characters: it is a label of the MiniClusters"
type FluxSetup struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the queue may give, and to whom.
	// +optional
	Spec FluxSetupSpec `json:"spec,omitzero"`

	// Status is what the queue has given, and who waits. It is written by the operator, and is where it keeps what it has
	// promised.
	// +optional
	Status FluxSetupStatus `json:"status,omitzero"`
}

// Conditions returns the place of the conditions in the status.
func (s *FluxSetup) Conditions() *[]metav1.Condition { return &s.Status.Conditions }

// QueueingStrategy says what happens behind a job that has to wait.
// +kubebuilder:validation:Enum=StrictFIFO;BestEffortFIFO
type QueueingStrategy string

// The queueing strategies.
const (
	// StrictFIFO: behind a job that waits, all wait.
	StrictFIFO QueueingStrategy = "StrictFIFO"
	// BestEffortFIFO: jobs for which there is room may go before one that has to wait.
	BestEffortFIFO QueueingStrategy = "BestEffortFIFO"
)

// PreemptionPolicy says whom a job may push out.
// +kubebuilder:validation:Enum=Never;LowerPriority
type PreemptionPolicy string

// The preemption policies.
const (
	// PreemptionNever: no one.
	PreemptionNever PreemptionPolicy = "Never"
	// PreemptionLowerPriority: jobs of a lower priority.
	PreemptionLowerPriority PreemptionPolicy = "LowerPriority"
)

// StopPolicy stops a queue.
// +kubebuilder:validation:Enum=None;Hold;HoldAndDrain
type StopPolicy string

// The stop policies.
const (
	// StopNone: the queue works.
	StopNone StopPolicy = "None"
	// StopHold: no one is admitted, and what runs goes on.
	StopHold StopPolicy = "Hold"
	// StopHoldAndDrain: no one is admitted, and what runs is stopped and goes back into the queue.
	StopHoldAndDrain StopPolicy = "HoldAndDrain"
)

// FluxSetupSpec is what a queue may give, and to whom.
//
// +kubebuilder:validation:XValidation:rule="(has(self.cohort) && self.cohort != \"\") || (!has(self.borrowingLimit) && !has(self.lendingLimit))",message="borrowingLimit and lendingLimit mean nothing without a cohort"
type FluxSetupSpec struct {
	// MiniCluster says what sizes of MiniClusters jobs may have.
	// +optional
	MiniCluster FluxSetupMiniCluster `json:"miniCluster,omitzero"`

	// Quota is how much all jobs of this queue may use together. What isn't named isn't limited.
	// +optional
	Quota FluxQuota `json:"quota,omitzero"`

	// Cohort is the name of a group of FluxSetups that lend each other what they don't use. Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cohort string `json:"cohort,omitempty"`

	// BorrowingLimit is how much more than its own quota this queue may use when the others of the cohort have it to
	// spare. What isn't named isn't limited: all that the others lend.
	// +optional
	BorrowingLimit *FluxQuota `json:"borrowingLimit,omitempty"`

	// LendingLimit is how much of its own quota the others of the cohort may use; the rest is always there for this
	// queue. What isn't named isn't limited: all of it.
	// +optional
	LendingLimit *FluxQuota `json:"lendingLimit,omitempty"`

	// NamespaceSelector says by their labels in which namespaces FluxJobs may use this queue. Those of others wait, with
	// reason NamespaceNotAllowed. Default: all namespaces.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// QueueingStrategy is StrictFIFO: behind a job that has to wait, all wait; or BestEffortFIFO, the default: those for
	// which there is room may go first. In both a higher priority comes first, then the time of creation. A job that
	// could never run holds up no one.
	// +optional
	// +kubebuilder:default=BestEffortFIFO
	QueueingStrategy QueueingStrategy `json:"queueingStrategy,omitempty"`

	// Priority is that of the jobs that don't set their own, and the most that jobs of a namespace may have that none of
	// priorityLimits selects. More goes first. Default: 0.
	// +optional
	Priority int32 `json:"priority,omitempty"`

	// PriorityLimits say by the labels of their namespaces up to which priority jobs may go. The first that selects a
	// namespace applies to it; where none does, the limit is priority. So without limits a job may step back behind the
	// others, and no namespace can go before another, or push its jobs out, unless this list lets it. A job that asks for
	// more has the limit instead, and its condition PriorityLimited says so. A change takes effect at once, also on jobs
	// that run. Default: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	PriorityLimits []FluxPriorityLimit `json:"priorityLimits,omitempty"`

	// Preemption is Never, the default, or LowerPriority: a job for which there is no room may push out jobs of a lower
	// priority: those of its own queue, and those of the cohort that borrow what this queue has lent. As few as needed
	// go, those of the lowest priority and the newest. They are stopped gracefully and go back into the queue.
	// +optional
	// +kubebuilder:default=Never
	Preemption PreemptionPolicy `json:"preemption,omitempty"`

	// Readiness bounds how long an admitted job may take to have all its pods ready. Default: no bound.
	// +optional
	Readiness *FluxReadiness `json:"readiness,omitempty"`

	// StopPolicy is None, the default; Hold, which admits no one; or HoldAndDrain, which also stops what runs and puts it
	// back into the queue.
	// +optional
	// +kubebuilder:default=None
	StopPolicy StopPolicy `json:"stopPolicy,omitempty"`
}

// FluxPriorityLimit is the most that jobs of some namespaces may have as their priority.
type FluxPriorityLimit struct {
	// NamespaceSelector says by their labels for which namespaces this is. Default: all namespaces.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// Max is the highest priority. It may be below that of the FluxSetup; then jobs that set none have this one, too.
	// +required
	Max int32 `json:"max"`
}

// FluxSetupMiniCluster says what sizes of MiniClusters jobs may have.
//
// +kubebuilder:validation:XValidation:rule="!has(self.size) || !has(self.maxSize) || self.size <= self.maxSize",fieldPath=".size",message="must be at most maxSize: a FluxJob gets this size if it asks for none"
type FluxSetupMiniCluster struct {
	// Size is that of jobs that don't say one, in pods. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Size *int32 `json:"size,omitempty"`

	// MaxSize is the most that a job may have or be scaled to, in pods. Larger ones wait, with reason TooLarge, until
	// someone changes them or this. Default: no bound but the quota.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxSize *int32 `json:"maxSize,omitempty"`
}

// FluxQuota is how much there is of what jobs use.
type FluxQuota struct {
	// MiniClusters is how many: one for each job.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MiniClusters *int32 `json:"miniClusters,omitempty"`

	// Pods is how many: the size of each MiniCluster, or its maxSize if it may grow, and one more if it has services.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Pods *int32 `json:"pods,omitempty"`

	// Resources are what the pods request: cpu, memory, ephemeral-storage, and GPUs and others by their full names, such
	// as nvidia.com/gpu. A misspelt name, which nothing would ever request, makes the FluxSetup invalid where it can be
	// told: names without a domain are the ones of Kubernetes.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// FluxReadiness bounds how long an admitted job may take to have all its pods ready. One that takes longer is stopped
// and goes back into the queue, where it waits for a while: backoffSeconds, doubled each time, at most
// backoffMaxSeconds. It lines up anew after that, behind jobs of its priority that came before then.
//
// +kubebuilder:validation:XValidation:rule="self.backoffSeconds <= self.backoffMaxSeconds",message="backoffSeconds is over backoffMaxSeconds"
type FluxReadiness struct {
	// TimeoutSeconds is how long it may take from admission until all pods are ready for the first time, in seconds.
	// +required
	// +kubebuilder:validation:Minimum=1
	TimeoutSeconds int32 `json:"timeoutSeconds"`

	// BackoffSeconds is how long the job waits the first time, in seconds. Default: 60.
	// +optional
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=1
	BackoffSeconds int32 `json:"backoffSeconds,omitempty"`

	// BackoffMaxSeconds is the longest that it waits, in seconds. Default: 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	BackoffMaxSeconds int32 `json:"backoffMaxSeconds,omitempty"`

	// RequeueLimit is how often the job goes back into the queue; once more, and it has failed, with reason NotReady.
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
