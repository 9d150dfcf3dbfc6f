package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// LabelKueueQueue is the label of Kueue that names its queue. Kueue queues a FluxJob with this label: its
	// MiniCluster and the MiniCluster's Job get the label, and no FluxSetup takes part.
	LabelKueueQueue = "kueue.x-k8s.io/queue-name"
	// LabelKueuePriority is the label of Kueue that names a priority. It is copied together with LabelKueueQueue.
	LabelKueuePriority = "kueue.x-k8s.io/priority-class"
)

// DefaultFluxQueue is the name of the FluxSetup of FluxJobs without a queue.
const DefaultFluxQueue = "default"

// FluxJob runs one command on its own MiniCluster, when the quota of its queue allows the whole job.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=fj
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Queue",type=string,JSONPath=".status.queue"
// +kubebuilder:printcolumn:name="Position",type=integer,JSONPath=".status.position"
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=".status.size"
// +kubebuilder:printcolumn:name="Exit",type=integer,JSONPath=".status.exitCode"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || (self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",optionalOldSelf=true,message="metadata.name must be at most 52 lower case letters, digits and '-', and begin with a letter: it is the name of the MiniCluster and of its hosts"
type FluxJob struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state.
	// +required
	Spec FluxJobSpec `json:"spec"`

	// Status is the observed state. The operator writes it.
	// +optional
	Status FluxJobStatus `json:"status,omitzero"`
}

// Conditions returns a pointer to the conditions in the status.
func (j *FluxJob) Conditions() *[]metav1.Condition { return &j.Status.Conditions }

// FluxJobSpec is the desired state of a FluxJob: an image and a command, or a whole miniCluster.
//
// A change takes effect at the next admission: a running job continues unchanged. priority, suspend and
// ttlSecondsAfterFinished take effect at once.
//
// +kubebuilder:validation:XValidation:rule="has(self.image) != has(self.miniCluster)",message="exactly one of image and miniCluster must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.miniCluster) || (!has(self.command) && !has(self.tasks) && !has(self.resources))",message="command, tasks and resources go with image; set them in miniCluster"
// +kubebuilder:validation:XValidation:rule="!has(self.miniCluster) || !has(self.miniCluster.suspend) || !self.miniCluster.suspend",message="miniCluster.suspend is set by the queue; set spec.suspend"
// +kubebuilder:validation:XValidation:rule="!has(self.miniCluster) || !has(self.miniCluster.ttlSecondsAfterFinished)",message="miniCluster.ttlSecondsAfterFinished would delete it before its end was recorded; set spec.ttlSecondsAfterFinished"
// +kubebuilder:validation:XValidation:rule="!has(self.miniCluster) || !has(self.miniCluster.managedBy)",message="miniCluster.managedBy can't be set: the FluxJob waits for its end"
// +kubebuilder:validation:XValidation:rule="!has(self.miniCluster) || !has(self.size) || self.miniCluster.size == 1 || self.miniCluster.size == self.size",message="size and miniCluster.size differ; set one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.miniCluster) || !has(self.size) || !has(self.miniCluster.maxSize) || self.miniCluster.maxSize == 0 || self.size <= self.miniCluster.maxSize",message="size is over miniCluster.maxSize"
// +kubebuilder:validation:XValidation:rule="!has(self.miniCluster) || !has(self.miniCluster.minSize) || (has(self.size) ? self.miniCluster.minSize <= self.size : self.miniCluster.size == 1 || self.miniCluster.minSize <= self.miniCluster.size)",message="the size is under miniCluster.minSize: the brokers would wait for pods that never come"
// +kubebuilder:validation:XValidation:rule="!has(self.miniCluster) || !has(self.deadlineSeconds) || !has(self.miniCluster.deadlineSeconds)",message="deadlineSeconds and miniCluster.deadlineSeconds exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.miniCluster) || !has(self.backoffLimit) || !has(self.miniCluster.backoffLimit)",message="backoffLimit and miniCluster.backoffLimit exclude each other"
type FluxJobSpec struct {
	// Image is the image of the pods. It must contain what the command needs; the MiniCluster adds Flux. Exactly one of
	// image and miniCluster must be set.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image,omitempty"`

	// Command is the command to run on the MiniCluster, in shell syntax. Without a command the MiniCluster is
	// interactive: it stays until the FluxJob is deleted.
	// +optional
	Command string `json:"command,omitempty"`

	// Size is the number of pods of the MiniCluster, including the leader. At least miniCluster.minSize, at most
	// miniCluster.maxSize. Default: miniCluster.size if that is more than 1, else the default of the FluxSetup, or the
	// closest of these bounds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Size *int32 `json:"size,omitempty"`

	// Tasks is the number of copies of the command on the whole MiniCluster. If it is at least size, they are spread
	// over all pods; 0 starts one on each pod. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Tasks *int32 `json:"tasks,omitempty"`

	// Resources are the requests and limits of the container of each pod. The job requests size times the requests from
	// the queue's quota; where there is a limit and no request, the limit counts. Default: none.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// MiniCluster is the whole MiniCluster, for jobs that need more than an image and a command. If it may grow
	// (maxSize), the queue reserves the maximum from the start. Its size of 1, the default, counts as not set.
	// +optional
	MiniCluster *MiniClusterSpec `json:"miniCluster,omitempty"`

	// Queue is the name of the FluxSetup that grants the quota. The job waits while the FluxSetup doesn't exist.
	// Default: default. With the label kueue.x-k8s.io/queue-name, Kueue is the queue; a job that sets both is invalid.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Queue string `json:"queue,omitempty"`

	// Priority: jobs with a higher priority are admitted first, and may preempt jobs with a lower one if the queue
	// allows it. The FluxSetup limits it by priorityLimits: a priority above the limit of the job's namespace counts as
	// the limit. Default: that of the FluxSetup.
	// +optional
	Priority *int32 `json:"priority,omitempty"`

	// Suspend stops the job: its pods are deleted, its quota is released, and it leaves the queue until suspend is
	// false. Then it waits for admission and starts from the beginning. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// DeadlineSeconds is the maximum time of the job after its admission, in seconds. When it expires, the job fails
	// with reason DeadlineExceeded. It starts again at the next admission. Default: no deadline.
	// +optional
	// +kubebuilder:validation:Minimum=1
	DeadlineSeconds *int64 `json:"deadlineSeconds,omitempty"`

	// BackoffLimit is the number of restarts of the MiniCluster after its leader failed or was lost. The job keeps its
	// quota meanwhile. Default: 0, no restart.
	// +optional
	// +kubebuilder:validation:Minimum=0
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`

	// TTLSecondsAfterFinished is the time in seconds between the end of the FluxJob and its deletion, with its
	// MiniCluster and its logs. Default: it is kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// CleanupPolicy defines what is deleted when the job has ended and its quota is released: None, the default, keeps
	// the MiniCluster, with the logs of its ended pods, until the FluxJob is deleted; MiniCluster deletes it.
	// +optional
	// +kubebuilder:default=None
	CleanupPolicy FluxCleanupPolicy `json:"cleanupPolicy,omitempty"`
}

// FluxCleanupPolicy defines what is deleted when a FluxJob has ended.
// +kubebuilder:validation:Enum=None;MiniCluster
type FluxCleanupPolicy string

// The cleanup policies.
const (
	// CleanupNone keeps the MiniCluster until the FluxJob is deleted.
	CleanupNone FluxCleanupPolicy = "None"
	// CleanupMiniCluster deletes the MiniCluster, with its pods and their logs.
	CleanupMiniCluster FluxCleanupPolicy = "MiniCluster"
)

// FluxJobList is a list of FluxJobs.
//
// +kubebuilder:object:root=true
type FluxJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []FluxJob `json:"items"`
}
