package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobFlow runs Jobs in the order of their dependencies. A Job is started once everything that it depends on has
// succeeded, or when its own expression (when) says so; when a Job fails, those that need it are skipped and the rest
// goes on. Once a flow has ended, nothing runs again, unless a retry is asked for.
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

	// Spec is what to run.
	// +required
	Spec JobFlowSpec `json:"spec"`

	// Status is how far the flow has come. It is written by the operator.
	// +optional
	Status JobFlowStatus `json:"status,omitzero"`
}

// Conditions returns the place of the conditions in the status.
func (f *JobFlow) Conditions() *[]metav1.Condition { return &f.Status.Conditions }

// JobFlowSpec is what a JobFlow runs.
//
// It may be changed at any time. While the flow runs, a change takes effect for what hasn't been started: flows may be
// added, taken out, reordered and rewritten. What has been started stays as it was started; a change of it has no
// effect, and the condition EditRefused says so. Once the flow has ended, a change takes effect with a retry.
//
// +kubebuilder:validation:XValidation:rule="has(self.managedBy) == has(oldSelf.managedBy) && (!has(self.managedBy) || self.managedBy == oldSelf.managedBy)",message="can't be changed once the JobFlow exists",fieldPath=".managedBy"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.retry) || (has(self.retry) && self.retry >= oldSelf.retry)",message="can only be increased",fieldPath=".retry"
type JobFlowSpec struct {
	// GlobalParams are rendered into every Job of the flow and its pods.
	// +optional
	GlobalParams GlobalParams `json:"globalParams,omitzero"`

	// ShareVolumes are volumes that flows can share. They are added to the pods of the flows that have
	// shareVolumeMounts. A volume that a template defines under the same name takes the place of the shared one in
	// that template's pods.
	// +optional
	// +listType=atomic
	ShareVolumes []corev1.Volume `json:"shareVolumes,omitempty"`

	// Flows are the nodes of the graph, each of which becomes one Job, or with forEach one Job an item. From 1 to 10000.
	// A list with duplicate names, an unknown dependency or a cycle starts nothing: the conditions Ready and Stalled
	// (reason InvalidSpec) name the flow and the field.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10000
	Flows []Flow `json:"flows,omitempty"`

	// Finally are run when all flows have ended, whatever came of them: also after a failure, a deadline and terminate,
	// but not when the JobFlow is deleted. They run side by side and have no dependencies. Their containers get the
	// variables FLOW_STATUS (Succeed or Failed) and FLOW_FAILED (the names of flows that failed, separated by commas,
	// at most 100 of them, of more than 1000 flows at most 10). If one of them fails the JobFlow is Failed, unless that one
	// has allowFailure. At most 100; their names must differ from those of the flows.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(f, !has(f.dependencies) || f.dependencies.size() == 0)",message="flows in finally start when all others have ended and can't have dependencies"
	Finally []Flow `json:"finally,omitempty"`

	// FailFast skips everything that hasn't been started as soon as a flow without allowFailure fails. What runs goes on to
	// its end, and finally is run. By default branches that don't depend on the failed flow still start.
	// +optional
	FailFast bool `json:"failFast,omitempty"`

	// SuccessWhen is a CEL expression that says, once all flows have ended, whether they have succeeded (true) or failed
	// (false), whichever of them failed: jobs.deploy.succeeded, or jobs.exists(n, jobs[n].succeeded). It is over all
	// flows but those in finally: jobs.<name>.succeeded, .failed and .skipped, as in when, without .output. It doesn't end the
	// JobFlow early. A failure in finally, terminate and a deadline fail the JobFlow whatever it says, and so does an
	// expression that can't be evaluated; one that doesn't compile, isn't a bool, or names a flow that there isn't is
	// refused. At most 4096 characters. By default the flows have succeeded if none failed but those with allowFailure.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	SuccessWhen string `json:"successWhen,omitempty"`

	// Parallelism is how many Jobs of the JobFlow may be active at a time, suspended ones included, at least 1. Of those that could start, the
	// first in the order of the spec do. By default there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Parallelism *int32 `json:"parallelism,omitempty"`

	// EndOfJob is when a Job counts as succeeded. Pods, the default: as soon as its pods determine that it will, so that
	// what depends on it starts at once; the Job's own condition follows about a second later. Condition: when the Job
	// has its condition Complete. Jobs whose pods alone don't determine the outcome (those with activeDeadlineSeconds,
	// podFailurePolicy, successPolicy, backoffLimitPerIndex or managedBy, and those without completions but with
	// parallelism) always count by their condition, and so do failures.
	// +optional
	EndOfJob EndOfJob `json:"endOfJob,omitempty"`

	// Suspend stops the flow for as long as it is true: nothing is started, and the Jobs that are active are suspended,
	// which deletes their pods; they start again when it is false again, each once its old pods have ended.
	// activeDeadlineSeconds starts again then, too.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// Terminate ends the flow: active Jobs are deleted and count as failed, what hasn't been started is skipped, finally
	// is run, and the JobFlow is Failed with the reason Terminated. Once that is recorded it can't be taken back; to go on
	// from there set terminate to false and increase retry.
	// +optional
	Terminate bool `json:"terminate,omitempty"`

	// Retry is how often the flow was asked to be resumed after a failure, by default 0. Increase it to run again what
	// failed and what never ran, with the spec as it is then; what has succeeded isn't run again, unless its output is
	// needed and was lost. Items of a forEach that have succeeded aren't either, as long as its items are the same. A retry
	// that is asked for before the flow has ended is carried out when it fails; one of a flow that succeeded has no effect.
	// Finally runs again. It can't be decreased. The Jobs of the n-th retry have names that end in -r<n>.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Retry int32 `json:"retry,omitempty"`

	// ActiveDeadlineSeconds is how long the flow may be active, in seconds from its start, its last resumption or its last
	// retry. Then it ends as by terminate, with the reason DeadlineExceeded. Finally isn't bound by it. No limit by default.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// TTLSecondsAfterFinished is how long the JobFlow is kept after its end, in seconds. Then it is deleted, and its Jobs
	// and pods with it. By default it is kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// JobRetention is which Jobs are kept, with their pods and logs, once the flow has ended: All (the default), Failed,
	// or None.
	// +optional
	JobRetention JobRetention `json:"jobRetention,omitempty"`

	// ManagedBy is the controller that runs this JobFlow. Left out, or api.practice.com/armature, it is Armature, which
	// doesn't touch a JobFlow with another value, nor its status. It can't be changed.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ManagedBy *string `json:"managedBy,omitempty"`
}

// JobRetention is which Jobs are kept when their flow has ended.
// +kubebuilder:validation:Enum=All;Failed;None
type JobRetention string

// Which Jobs are kept.
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
