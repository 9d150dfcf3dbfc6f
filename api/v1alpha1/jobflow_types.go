package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobFlow runs Jobs in the order of their dependencies. A Job starts once all its dependencies have succeeded, or when
// its own expression (when) is true; when a Job fails, its dependents are skipped and the rest continues. Once a flow
// has ended, only a retry runs a Job again.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=jf
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=".status.progress"
// +kubebuilder:printcolumn:name="Current",type=string,priority=1,JSONPath=".status.current"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type JobFlow struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state.
	// +required
	Spec JobFlowSpec `json:"spec"`

	// Status is the observed state. The operator writes it.
	// +optional
	Status JobFlowStatus `json:"status,omitzero"`
}

// Conditions returns a pointer to the conditions in the status.
func (f *JobFlow) Conditions() *[]metav1.Condition { return &f.Status.Conditions }

// JobFlowSpec is the desired state of a JobFlow.
//
// It may be changed at any time. While the flow runs, a change applies to flows that haven't started: they may be added,
// removed, reordered and rewritten. A change of a started flow has no effect, and the condition EditRefused reports it.
// Once the JobFlow has ended, a change takes effect with a retry.
//
// +kubebuilder:validation:XValidation:rule="has(self.managedBy) == has(oldSelf.managedBy) && (!has(self.managedBy) || self.managedBy == oldSelf.managedBy)",message="can't be changed once the JobFlow exists",fieldPath=".managedBy"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.retry) || (has(self.retry) && self.retry >= oldSelf.retry)",message="can only be increased",fieldPath=".retry"
type JobFlowSpec struct {
	// GlobalParams are rendered into every Job of the flow and its pods.
	// +optional
	GlobalParams GlobalParams `json:"globalParams,omitzero"`

	// ShareVolumes are volumes that flows can share. They are added to the pods of the flows that have
	// shareVolumeMounts. A volume of the same name in a template replaces the shared one in that template's pods.
	// +optional
	// +listType=atomic
	ShareVolumes []corev1.Volume `json:"shareVolumes,omitempty"`

	// Flows are the nodes of the graph, each of which becomes one Job, or with forEach one Job for each item. From 1 to
	// 10000. A list with duplicate names, an unknown dependency or a cycle starts nothing: the conditions Ready and
	// Stalled (reason InvalidSpec) name the flow and the field.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10000
	Flows []Flow `json:"flows,omitempty"`

	// Finally are run when all flows have ended, with any outcome: also after a failure, a deadline and terminate, but
	// not when the JobFlow is deleted. They run in parallel and have no dependencies. Their containers get the variables
	// FLOW_STATUS (Succeed or Failed) and FLOW_FAILED (the names of failed flows, separated by commas, at most 100 of
	// them, or at most 10 if there are more than 1000 flows). If one of them fails the JobFlow is Failed, unless that
	// one has allowFailure. At most 100; their names must differ from those of the flows.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(f, !has(f.dependencies) || f.dependencies.size() == 0)",message="flows in finally start when all others have ended and can't have dependencies"
	Finally []Flow `json:"finally,omitempty"`

	// FailFast skips all flows that haven't started as soon as a flow without allowFailure fails. Running flows continue
	// to their end, and finally runs. By default branches that don't depend on the failed flow still start.
	// +optional
	FailFast bool `json:"failFast,omitempty"`

	// SuccessWhen is a CEL expression that decides, once all flows have ended, whether they have succeeded (true) or
	// failed (false), regardless of their own outcomes: jobs.deploy.succeeded, or jobs.exists(n, jobs[n].succeeded). It
	// covers all flows except those in finally: jobs.<name>.succeeded, .failed and .skipped, as in when, without
	// .output. It doesn't end the JobFlow early. A failure in finally, terminate and a deadline fail the JobFlow
	// regardless of it, and so does an expression that can't be evaluated; one that doesn't compile, isn't a bool, or
	// names an unknown flow is refused. At most 4096 characters. By default the flows have succeeded if none failed
	// except those with allowFailure.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	SuccessWhen string `json:"successWhen,omitempty"`

	// Parallelism is the maximum number of active Jobs of the JobFlow at a time, including suspended ones, at least 1.
	// If more could start, the first in the order of the spec do. By default there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Parallelism *int32 `json:"parallelism,omitempty"`

	// EndOfJob defines when a Job counts as succeeded. Pods, the default: as soon as its pods determine its success, so
	// that its dependents start at once; the Job's own condition follows about a second later. Condition: when the Job
	// has its condition Complete. Jobs whose pods alone don't determine the outcome (those with activeDeadlineSeconds,
	// podFailurePolicy, successPolicy, backoffLimitPerIndex or managedBy, and those without completions but with
	// parallelism), and failures, always count by the condition.
	// +optional
	EndOfJob EndOfJob `json:"endOfJob,omitempty"`

	// Suspend stops the flow while it is true: nothing starts, and the active Jobs are suspended, which deletes their
	// pods; they start again when it becomes false, each once its old pods have ended. activeDeadlineSeconds starts
	// again then, too. Jobs in a queue of Kueue are deleted, and created again.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// Terminate ends the flow: active Jobs are deleted and count as failed, flows that haven't started are skipped,
	// finally runs, and the JobFlow is Failed with the reason Terminated. Once that is recorded it can't be reverted; to
	// continue from there set terminate to false and increase retry.
	// +optional
	Terminate bool `json:"terminate,omitempty"`

	// Retry is the number of requested retries. Increase it to run failed flows and flows that never ran, with the
	// current spec; succeeded flows don't run again, unless a flow needs their lost output. Succeeded items of a forEach
	// don't run again either, while its items are the same. A retry that is requested before the end of the flow is
	// carried out when it fails; a retry of a succeeded flow has no effect. Finally runs again. It can't be decreased.
	// The names of the Jobs of the n-th retry end in -r<n>. Default: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Retry int32 `json:"retry,omitempty"`

	// ActiveDeadlineSeconds is the maximum active time of the flow, in seconds from its start, its last resume or its
	// last retry. Then it ends as by terminate, with the reason DeadlineExceeded. It doesn't limit finally. No limit by
	// default.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// TTLSecondsAfterFinished is the time in seconds between the end of the JobFlow and its deletion, with its Jobs and
	// pods. By default it is kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// JobRetention defines which Jobs are kept, with their pods and logs, once the flow has ended: All (the default),
	// Failed, or None.
	// +optional
	JobRetention JobRetention `json:"jobRetention,omitempty"`

	// ManagedBy names the controller that runs this JobFlow. With another value than api.practice.com/armature, the
	// default, Armature ignores the JobFlow and its status. It can't be changed.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ManagedBy *string `json:"managedBy,omitempty"`
}

// JobRetention defines which Jobs are kept when their flow has ended.
// +kubebuilder:validation:Enum=All;Failed;None
type JobRetention string

// The values of jobRetention.
const (
	// RetainAll keeps all Jobs.
	RetainAll JobRetention = "All"
	// RetainFailed keeps the Jobs that failed.
	RetainFailed JobRetention = "Failed"
	// RetainNone keeps no Job.
	RetainNone JobRetention = "None"
)

// JobFlowList is a list of JobFlows.
//
// +kubebuilder:object:root=true
type JobFlowList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []JobFlow `json:"items"`
}
