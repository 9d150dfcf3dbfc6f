package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// DaemonJob runs a Job to its end on every node, or on those that its template selects: a DaemonSet for work that ends.
// Each node has a Job of its own, <daemonjob>-<node>. Nodes that join while it runs are served too.
// Once it has ended nothing runs again, unless a retry is asked for.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dj
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=".status.desired"
// +kubebuilder:printcolumn:name="Active",type=integer,JSONPath=".status.active"
// +kubebuilder:printcolumn:name="Succeeded",type=integer,JSONPath=".status.succeeded"
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=".status.failed"
// +kubebuilder:printcolumn:name="Suspended",type=integer,priority=1,JSONPath=".status.suspended"
// +kubebuilder:printcolumn:name="Waiting",type=integer,priority=1,JSONPath=".status.waiting"
// +kubebuilder:printcolumn:name="Skipped",type=integer,priority=1,JSONPath=".status.skipped"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type DaemonJob struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what to run, and on which nodes.
	// +required
	Spec DaemonJobSpec `json:"spec"`

	// Status is how far the job has come. It is written by the operator.
	// +optional
	Status DaemonJobStatus `json:"status,omitzero"`
}

// Conditions returns the place of the conditions in the status.
func (j *DaemonJob) Conditions() *[]metav1.Condition { return &j.Status.Conditions }

// CompletionPolicy says when a DaemonJob ends.
// +kubebuilder:validation:Enum=Always;Never
type CompletionPolicy string

// The completion policies.
const (
	// CompleteAlways: the job ends when its Job has ended on every node that there is.
	CompleteAlways CompletionPolicy = "Always"
	// CompleteNever: the job goes on, and serves nodes that come.
	CompleteNever CompletionPolicy = "Never"
)

// FailurePolicy says what a DaemonJob does when nodes fail.
// +kubebuilder:validation:Enum=Continue;FailFast;Pause
type FailurePolicy string

// The failure policies.
const (
	// FailureContinue: the other nodes go on, and the job fails at the end.
	FailureContinue FailurePolicy = "Continue"
	// FailureFailFast: the job fails at once; Jobs that run are stopped.
	FailureFailFast FailurePolicy = "FailFast"
	// FailurePause: no more Jobs are started until someone says so; Jobs that run go on.
	FailurePause FailurePolicy = "Pause"
)

// UnavailableNodes says whether a DaemonJob waits for nodes that can't take its pods for the time being.
// +kubebuilder:validation:Enum=Wait;Skip
type UnavailableNodes string

// What to do about unavailable nodes.
const (
	// UnavailableWait: the job doesn't end before they were served, or are gone.
	UnavailableWait UnavailableNodes = "Wait"
	// UnavailableSkip: the job ends without them.
	UnavailableSkip UnavailableNodes = "Skip"
)

// DaemonJobSpec is what a DaemonJob runs. It has the fields of a Job's spec: of those, template and the ones that follow
// it say what each node's Job is; parallelism, suspend, activeDeadlineSeconds, ttlSecondsAfterFinished and managedBy say
// how the whole is run.
//
// A change takes effect for what hasn't been started: a node that has a Job, or has had one to its end, keeps it as it
// is, even if the change excludes the node. Once the job has ended, a change takes effect with a retry.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.completionPolicy) && self.completionPolicy == 'Never' && has(self.ttlSecondsAfterFinished))",message="needs completionPolicy Always: a job that never completes is never finished",fieldPath=".ttlSecondsAfterFinished"
// +kubebuilder:validation:XValidation:rule="!(has(self.completionPolicy) && self.completionPolicy == 'Never' && has(self.activeDeadlineSeconds))",message="needs completionPolicy Always: a job that never completes would always exceed it",fieldPath=".activeDeadlineSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.maxFailures) || (has(self.failurePolicy) && self.failurePolicy != 'Continue')",message="needs failurePolicy FailFast or Pause",fieldPath=".maxFailures"
// +kubebuilder:validation:XValidation:rule="!has(self.excludeNodeSelector) || (has(self.excludeNodeSelector.matchLabels) && size(self.excludeNodeSelector.matchLabels) > 0) || (has(self.excludeNodeSelector.matchExpressions) && size(self.excludeNodeSelector.matchExpressions) > 0)",message="needs matchLabels or matchExpressions: an empty selector would exclude every node",fieldPath=".excludeNodeSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.selector)",message="can't be set: each node's Job selects its own pods",fieldPath=".selector"
// +kubebuilder:validation:XValidation:rule="!has(self.manualSelector) || !self.manualSelector",message="can't be true: each node's Job selects its own pods",fieldPath=".manualSelector"
// +kubebuilder:validation:XValidation:rule="has(self.managedBy) == has(oldSelf.managedBy) && (!has(self.managedBy) || self.managedBy == oldSelf.managedBy)",message="can't be changed once the DaemonJob exists",fieldPath=".managedBy"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.retry) || (has(self.retry) && self.retry >= oldSelf.retry)",message="can only be increased",fieldPath=".retry"
type DaemonJobSpec struct {
	// GlobalParams are rendered into every Job and its pods. With nodeName the job is for the node of that name alone.
	// +optional
	GlobalParams GlobalParams `json:"globalParams,omitzero"`

	// ExcludeNodeList are the names of nodes that get no Job, separated by commas; blanks around a name don't matter. A
	// name that no node has is fine: it excludes a node that comes later. What can't be a node's name is refused.
	// Default: no node is excluded.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-a-z0-9.,\\\\s]*$')",message="must be node names separated by commas, such as \"node-1, node-2\""
	ExcludeNodeList string `json:"excludeNodeList,omitempty"`

	// ExcludeNodeSelector excludes the nodes whose labels it matches, besides those of excludeNodeList. An empty
	// selector, which would match every node, is refused. Default: no node is excluded.
	// +optional
	ExcludeNodeSelector *metav1.LabelSelector `json:"excludeNodeSelector,omitempty"`

	// TolerateLikeDaemonSet adds the tolerations that a DaemonSet's pods get: of nodes that are not ready or unreachable
	// (NoExecute), short of disk, memory or process IDs, or cordoned (NoSchedule), and, for pods in the host's network, of
	// nodes without a network. Cordoned nodes are then served like others. Default: false, only what the template
	// tolerates is tolerated.
	// +optional
	TolerateLikeDaemonSet bool `json:"tolerateLikeDaemonSet,omitempty"`

	// UnavailableNodes says what to do about nodes that the job is for, but that can't take its pods for the time being:
	// those that are cordoned, and those that have a taint that the pods don't tolerate (a node that isn't ready has
	// one). They get their Job as soon as they can take it, while the job runs.
	// Wait, the default: the job doesn't end before. The condition Ready names them; to do without some of them,
	// exclude them, or tolerate their taints.
	// Skip: the job ends without them, and they are counted as skipped.
	// A taint that says what a node is for, node-role.kubernetes.io/..., is no such matter: if it isn't tolerated, the
	// job isn't for the node, as with a DaemonSet.
	// +optional
	UnavailableNodes UnavailableNodes `json:"unavailableNodes,omitempty"`

	// Parallelism is on how many nodes at most a Job runs at the same time: a number, at least 1, or a percentage of
	// status.desired, from 1% to 100%, rounded up. A change holds for Jobs that are yet to be started.
	// Default: all nodes at once.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number of nodes, at least 1, or a percentage from 1% to 100%"
	Parallelism *intstr.IntOrString `json:"parallelism,omitempty"`

	// CompletionPolicy says when the job ends. Always, the default: when the Job of every node that there is has ended;
	// that goes for nodes that join before. Never: it goes on and serves nodes that come; ttlSecondsAfterFinished
	// and activeDeadlineSeconds are refused.
	// A job that no node has run, because there is none that it is for, waits for one.
	// +optional
	CompletionPolicy CompletionPolicy `json:"completionPolicy,omitempty"`

	// FailurePolicy says what happens when as many nodes have failed as maxFailures says.
	// Continue, the default: the other nodes go on, and the job fails when all have ended.
	// FailFast: the job fails at once. Jobs that run are deleted, and their nodes and all others are skipped.
	// Pause: no more Jobs are started; Jobs that run go on. The pause is kept in the status. To run the failed nodes again
	// and go on, increase retry; to go on without them, change this to Continue.
	// +optional
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`

	// MaxFailures is how many nodes must have failed for failurePolicy to take effect: a number, at least 1, or a
	// percentage of status.desired, from 1% to 100%, rounded up. Together with parallelism, this rolls a change through a
	// cluster and stops when it does harm. It needs failurePolicy FailFast or Pause. Default: 1.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number of nodes, at least 1, or a percentage from 1% to 100%"
	MaxFailures *intstr.IntOrString `json:"maxFailures,omitempty"`

	// Retry is how often the job was asked to go on after nodes had failed, by default 0. Increase it to run the nodes
	// again that failed (their Jobs are deleted and made anew, with the spec as it is then), and to go on with what never
	// ran, also when the job is paused or has ended; nodes that have succeeded don't run again. A Job that was started
	// before and fails after that is run again, too. It has no effect on a job that has succeeded, and can't be decreased.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Retry int32 `json:"retry,omitempty"`

	// Suspend stops the job for as long as it is true: no Jobs are started, and those that are active are suspended, which
	// deletes their pods; they start again when it is false again. activeDeadlineSeconds starts again then, too.
	// Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// ActiveDeadlineSeconds is how long the whole job may be active, in seconds from its start, or from when it was last
	// resumed or retried. Then Jobs that are active are deleted, their nodes and all others are skipped, and the job fails
	// with the reason DeadlineExceeded. Default: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// TTLSecondsAfterFinished is how long the DaemonJob is kept after its end, in seconds. Then it is deleted, and its
	// Jobs and pods with it. 0 deletes it at once. Default: it is kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// EndOfJob is when a node's Job counts as succeeded. Pods, the default: as soon as its pods determine that it will, so
	// that the next node's Job starts at once; the Job's own condition follows about a second later. Condition: when the
	// Job has its condition Complete. Jobs whose pods alone don't determine the outcome (those with podFailurePolicy,
	// successPolicy or backoffLimitPerIndex) always count by their condition, and so do failures.
	// +optional
	EndOfJob EndOfJob `json:"endOfJob,omitempty"`

	// ManagedBy names the controller that runs this job. Any other name than api.practice.com/armature, which is the
	// default, makes Armature leave the object alone altogether. It can't be changed.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[^ /][^ ]*$`
	ManagedBy *string `json:"managedBy,omitempty"`

	// Template is the pod that each node runs, as in kubectl explain job.spec.template, but: restartPolicy is always
	// Never, whatever it says, and the pod is bound to its node by a node affinity, through the scheduler. The template's
	// nodeSelector, nodeName and required node affinity say which nodes the job is for, and its tolerations which of them
	// can take a pod.
	// +required
	Template corev1.PodTemplateSpec `json:"template"`

	// BackoffLimit is how often a failed pod is replaced before its node's Job, and so the node, counts as failed.
	// Default: 0, one failed pod fails the node. (With backoffLimitPerIndex the API server's default applies.)
	// +optional
	// +kubebuilder:validation:Minimum=0
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`

	// Completions is how many pods must succeed on each node, one after another. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Completions *int32 `json:"completions,omitempty"`

	// CompletionMode of each node's Job: NonIndexed, the default, or Indexed, see kubectl explain job.spec.completionMode.
	// +optional
	CompletionMode *batchv1.CompletionMode `json:"completionMode,omitempty"`

	// BackoffLimitPerIndex is how often a pod is replaced within an index of a node's Job that is Indexed, see
	// kubectl explain job.spec.backoffLimitPerIndex. Default: not counted by index.
	// +optional
	BackoffLimitPerIndex *int32 `json:"backoffLimitPerIndex,omitempty"`

	// MaxFailedIndexes is how many indexes may fail before a node's Job fails at once, see
	// kubectl explain job.spec.maxFailedIndexes. Default: no limit.
	// +optional
	MaxFailedIndexes *int32 `json:"maxFailedIndexes,omitempty"`

	// PodFailurePolicy says which failures of pods fail a node's Job and which don't count, see
	// kubectl explain job.spec.podFailurePolicy. Default: each failure counts.
	// +optional
	PodFailurePolicy *batchv1.PodFailurePolicy `json:"podFailurePolicy,omitempty"`

	// SuccessPolicy says when a node's Job that is Indexed has succeeded, see kubectl explain job.spec.successPolicy.
	// Default: when all completions have.
	// +optional
	SuccessPolicy *batchv1.SuccessPolicy `json:"successPolicy,omitempty"`

	// PodReplacementPolicy says when a pod of a node's Job is replaced, see
	// kubectl explain job.spec.podReplacementPolicy. Default: the API server's.
	// +optional
	PodReplacementPolicy *batchv1.PodReplacementPolicy `json:"podReplacementPolicy,omitempty"`

	// Scheduling is how the pods of each node's Job are scheduled together, see kubectl explain job.spec.scheduling. It
	// needs a cluster that has the feature. Default: pod by pod.
	// +optional
	Scheduling *batchv1.JobSchedulingConfiguration `json:"scheduling,omitempty"`

	// Selector is refused: the API server gives each node's Job a selector of its own. The field is here so that the
	// refusal says so.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// ManualSelector is refused if true, as selector is.
	// +optional
	ManualSelector *bool `json:"manualSelector,omitempty"`
}

// DaemonJobList is a list of DaemonJobs.
//
// +kubebuilder:object:root=true
type DaemonJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DaemonJob `json:"items"`
}
