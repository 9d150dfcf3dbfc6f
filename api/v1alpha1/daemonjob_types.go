package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// DaemonJob runs a Job to completion on every node, or on the nodes that its template selects: a DaemonSet for work that
// ends. Each node has its own Job, <daemonjob>-<node>. Nodes that join while it runs get a Job too. Once it has ended,
// only a retry runs a Job again.
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

	// Spec is the desired state: what to run, and on which nodes.
	// +required
	Spec DaemonJobSpec `json:"spec"`

	// Status is the observed state. The operator writes it.
	// +optional
	Status DaemonJobStatus `json:"status,omitzero"`
}

// Conditions returns a pointer to the conditions in the status.
func (j *DaemonJob) Conditions() *[]metav1.Condition { return &j.Status.Conditions }

// CompletionPolicy defines when a DaemonJob ends.
// +kubebuilder:validation:Enum=Always;Never
type CompletionPolicy string

// The completion policies.
const (
	// CompleteAlways: the job ends when its Job has ended on every existing node.
	CompleteAlways CompletionPolicy = "Always"
	// CompleteNever: the job continues, and serves nodes that join.
	CompleteNever CompletionPolicy = "Never"
)

// FailurePolicy defines the reaction of a DaemonJob to failed nodes.
// +kubebuilder:validation:Enum=Continue;FailFast;Pause
type FailurePolicy string

// The failure policies.
const (
	// FailureContinue: the other nodes continue, and the job fails at the end.
	FailureContinue FailurePolicy = "Continue"
	// FailureFailFast: the job fails at once, and running Jobs are stopped.
	FailureFailFast FailurePolicy = "FailFast"
	// FailurePause: no further Jobs are started until a user's action; running Jobs continue.
	FailurePause FailurePolicy = "Pause"
)

// UnavailableNodes defines whether a DaemonJob waits for nodes that can't take its pods at present.
// +kubebuilder:validation:Enum=Wait;Skip
type UnavailableNodes string

// The values of unavailableNodes.
const (
	// UnavailableWait: the job doesn't end until these nodes were served or deleted.
	UnavailableWait UnavailableNodes = "Wait"
	// UnavailableSkip: the job ends without them.
	UnavailableSkip UnavailableNodes = "Skip"
)

// DaemonJobSpec is the desired state of a DaemonJob. It has the fields of a Job's spec: template and the fields after it
// apply to each node's Job; parallelism, suspend, activeDeadlineSeconds, ttlSecondsAfterFinished and managedBy apply to
// the DaemonJob as a whole.
//
// A change applies to nodes without a Job: a node that has a Job, or has run one to completion, keeps it unchanged, even
// if the change excludes the node. Once the job has ended, a change takes effect with a retry.
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
	// GlobalParams are rendered into every Job and its pods. With nodeName the job runs on the node of that name only.
	// +optional
	GlobalParams GlobalParams `json:"globalParams,omitzero"`

	// ExcludeNodeList are the names of nodes that get no Job, separated by commas; blanks around a name are ignored. A
	// name without a node is accepted, and excludes a node that joins later. A name that no node can have is refused.
	// Default: no node is excluded.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-a-z0-9.,\\\\s]*$')",message="must be node names separated by commas, such as \"node-1, node-2\""
	ExcludeNodeList string `json:"excludeNodeList,omitempty"`

	// ExcludeNodeSelector excludes the nodes whose labels it matches, besides those of excludeNodeList. An empty
	// selector, which would match every node, is refused. Default: no node is excluded.
	// +optional
	ExcludeNodeSelector *metav1.LabelSelector `json:"excludeNodeSelector,omitempty"`

	// TolerateLikeDaemonSet adds the tolerations of a DaemonSet's pods: for nodes that are not ready or unreachable
	// (NoExecute), short of disk, memory or process IDs, or cordoned (NoSchedule), and, for pods in the host's network,
	// for nodes without a network. Cordoned nodes then get a Job like others. Default: false, only the template's
	// tolerations apply.
	// +optional
	TolerateLikeDaemonSet bool `json:"tolerateLikeDaemonSet,omitempty"`

	// UnavailableNodes defines the handling of selected nodes that can't take a pod at present: cordoned nodes, and
	// nodes with a taint that the pods don't tolerate (a node that isn't ready has one). They get their Job as soon as
	// they can take a pod, while the job runs. Wait, the default: the job doesn't end before. The condition Ready names
	// them; to ignore some of them, exclude them, or tolerate their taints. Skip: the job ends without them, and counts
	// them as skipped. This includes a node that becomes unavailable while it runs its Job, once none of the Job's pods can
	// run there, unless the Job fails. A role taint, node-role.kubernetes.io/..., is different: without a toleration the job doesn't
	// select the node, as with a DaemonSet.
	// +optional
	UnavailableNodes UnavailableNodes `json:"unavailableNodes,omitempty"`

	// Parallelism is the maximum number of nodes on which a Job runs at the same time: a number, at least 1, or a
	// percentage of status.desired, from 1% to 100%, rounded up. A change applies to Jobs that haven't started. Default:
	// all nodes at once.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number of nodes, at least 1, or a percentage from 1% to 100%"
	Parallelism *intstr.IntOrString `json:"parallelism,omitempty"`

	// CompletionPolicy defines when the job ends. Always, the default: when the Job of every existing node has ended,
	// including nodes that join before. Never: it continues and serves nodes that join; ttlSecondsAfterFinished and
	// activeDeadlineSeconds are refused. A job that matches no node waits for one.
	// +optional
	CompletionPolicy CompletionPolicy `json:"completionPolicy,omitempty"`

	// FailurePolicy defines the reaction when the number of failed nodes reaches maxFailures. Continue, the default: the
	// other nodes continue, and the job fails when all have ended. FailFast: the job fails at once. The operator deletes
	// running Jobs and counts their nodes as failed; nodes without a Job are skipped. Pause: no further Jobs are started;
	// running Jobs continue. The status records the pause. To run the failed nodes again and continue, increase retry; to
	// continue without them, change this to Continue.
	// +optional
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`

	// MaxFailures is the number of nodes that have failed, or are certain to fail, at which failurePolicy takes effect: a
	// number, at least 1, or a percentage of status.desired, from 1% to 100%, rounded up. Together with parallelism, it
	// rolls a change through a cluster and stops when nodes fail. It needs failurePolicy FailFast or Pause. Default: 1.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number of nodes, at least 1, or a percentage from 1% to 100%"
	MaxFailures *intstr.IntOrString `json:"maxFailures,omitempty"`

	// Retry is the number of requested retries. Increase it to run failed nodes again (their Jobs are deleted and
	// recreated with the current spec), and to start nodes that never ran, also when the job is paused or has ended;
	// succeeded nodes don't run again. A Job that started before a retry and fails after it runs again, too. It has no
	// effect on a job that has succeeded, and can't be decreased. Default: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Retry int32 `json:"retry,omitempty"`

	// Suspend stops the job while it is true: no Jobs are started, and active Jobs are suspended, which deletes their
	// pods; they start again when it becomes false. activeDeadlineSeconds starts again then, too. Jobs in a queue of
	// Kueue are deleted, and created again. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// ActiveDeadlineSeconds is the maximum active time of the whole job, in seconds from its start, its last resume or
	// its last retry. When it expires, the operator deletes active Jobs and counts their nodes as failed, nodes without
	// a Job are skipped, and the job fails with the reason DeadlineExceeded. Default: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// TTLSecondsAfterFinished is the time in seconds between the end of the DaemonJob and its deletion, with its Jobs
	// and pods. 0 deletes it at once. Default: it is kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// EndOfJob defines when a node's Job counts as succeeded. Pods, the default: as soon as its pods determine its
	// success, so that the next node's Job starts at once; the Job's own condition follows about a second later.
	// Condition: when the Job has its condition Complete. Jobs whose pods alone don't determine the outcome (those with
	// podFailurePolicy, successPolicy or backoffLimitPerIndex), and failures, always count by the condition.
	// +optional
	EndOfJob EndOfJob `json:"endOfJob,omitempty"`

	// ManagedBy names the controller that runs this job. With another value than api.practice.com/armature, the default,
	// Armature ignores the object. It can't be changed.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[^ /][^ ]*$`
	ManagedBy *string `json:"managedBy,omitempty"`

	// Template is the pod of each node, as in kubectl explain job.spec.template, with these differences: restartPolicy
	// is always Never, and a node affinity binds the pod to its node, through the scheduler. The template's
	// nodeSelector, nodeName and required node affinity select the nodes of the job, and its tolerations define which of
	// them can take a pod.
	// +required
	Template corev1.PodTemplateSpec `json:"template"`

	// BackoffLimit is the number of replacements of a failed pod before its node's Job, and so the node, counts as
	// failed. Default: 0, one failed pod fails the node. (With backoffLimitPerIndex the API server's default applies.)
	// +optional
	// +kubebuilder:validation:Minimum=0
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`

	// Completions is the number of pods that must succeed on each node, one after another. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Completions *int32 `json:"completions,omitempty"`

	// CompletionMode of each node's Job: NonIndexed, the default, or Indexed, see kubectl explain job.spec.completionMode.
	// +optional
	CompletionMode *batchv1.CompletionMode `json:"completionMode,omitempty"`

	// BackoffLimitPerIndex is the number of replacements of a pod within an index of an Indexed Job, see kubectl explain
	// job.spec.backoffLimitPerIndex. Default: not counted by index.
	// +optional
	BackoffLimitPerIndex *int32 `json:"backoffLimitPerIndex,omitempty"`

	// MaxFailedIndexes is the number of failed indexes at which a node's Job fails at once, see kubectl explain
	// job.spec.maxFailedIndexes. Default: no limit.
	// +optional
	MaxFailedIndexes *int32 `json:"maxFailedIndexes,omitempty"`

	// PodFailurePolicy defines which failures of pods fail a node's Job and which don't count, see kubectl explain
	// job.spec.podFailurePolicy. Default: each failure counts.
	// +optional
	PodFailurePolicy *batchv1.PodFailurePolicy `json:"podFailurePolicy,omitempty"`

	// SuccessPolicy defines when an Indexed Job of a node has succeeded, see kubectl explain job.spec.successPolicy.
	// Default: when all completions have succeeded.
	// +optional
	SuccessPolicy *batchv1.SuccessPolicy `json:"successPolicy,omitempty"`

	// PodReplacementPolicy defines when a pod of a node's Job is replaced, see kubectl explain
	// job.spec.podReplacementPolicy. Default: the API server's.
	// +optional
	PodReplacementPolicy *batchv1.PodReplacementPolicy `json:"podReplacementPolicy,omitempty"`

	// Scheduling defines how the pods of each node's Job are scheduled together, see kubectl explain
	// job.spec.scheduling. It needs a cluster with this feature. Default: pod by pod.
	// +optional
	Scheduling *batchv1.JobSchedulingConfiguration `json:"scheduling,omitempty"`

	// Selector is refused: the API server generates a selector for each node's Job. The field exists so that a message
	// explains the refusal.
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
