package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Flow is a node of a JobFlow's graph: a Job, and the conditions of its start.
//
// +kubebuilder:validation:XValidation:rule="has(self.jobTemplate) != (has(self.jobTemplateRef) && size(self.jobTemplateRef) > 0)",message="exactly one of jobTemplate and jobTemplateRef must be set"
type Flow struct {
	// Name identifies the flow within the JobFlow and must be unique there: lower case letters, digits and '-',
	// beginning and ending with a letter or digit, at most 63 characters. The Job is called <jobflow>-<name>, with
	// forEach <jobflow>-<name>-<index>; if that is longer than 63 characters, it is cut and a hash replaces the rest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Dependencies are the names of the flows that must have ended before the operator decides on this one: without when
	// it starts if all of them succeeded, or failed and have allowFailure, and is skipped otherwise. Unknown names, the
	// flow's own name, duplicates and cycles are refused. Empty, the default, starts at once.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	Dependencies []string `json:"dependencies,omitempty"`

	// When is a CEL expression that decides, once all dependencies have ended, whether the flow starts (true) or is
	// skipped (false). It evaluates the dependencies' outcomes: jobs.<name>.succeeded, .failed and .skipped, which are
	// bools, and .output, a string. A name with '-' is written jobs["a-b"]. In finally, jobs has all flows, and state is
	// "Succeed" or "Failed". At most 4096 characters. An expression that doesn't compile, isn't a bool, or names a flow
	// that isn't a dependency is refused; one that can't be evaluated, or costs too much, fails the flow. All
	// expressions of a JobFlow together may have 1 MiB and 200,000 names, numbers, strings and other symbols, and take 5
	// million steps as CEL estimates them. By default all dependencies must have succeeded, or failed with allowFailure.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	When string `json:"when,omitempty"`

	// AllowFailure, if true, lets the JobFlow continue and succeed although this flow fails, as GitLab's allow_failure
	// and Argo's continueOn.failed do. Its state is still Failed, and a when evaluates it as failed; but flows that
	// depend on it without when start, failFast ignores it, and its failure doesn't fail the JobFlow. Its output is then
	// empty. A retry of the JobFlow runs it again. It may be changed until the JobFlow has ended; a failed flow that is
	// removed from the spec counts as one without it. Default: false.
	// +optional
	AllowFailure bool `json:"allowFailure,omitempty"`

	// Inputs pass outputs of dependencies to the flow's containers, as environment variables. At most 100.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Inputs []Input `json:"inputs,omitempty"`

	// ForEach runs one Job for each item of a list, all from this flow's template. The flow succeeds when all of them
	// succeed; with an empty list it succeeds at once. If items fail, the others still run, and then the flow fails.
	// +optional
	ForEach *ForEach `json:"forEach,omitempty"`

	// JobTemplate is the spec of the Job, with all fields of batch/v1 (see kubectl explain job.spec), with these
	// differences: the pod's restartPolicy is always Never; backoffLimit is 0 unless set here, so that a failed pod
	// fails the Job (with backoffLimitPerIndex, the API server's default applies); the operator carries out
	// ttlSecondsAfterFinished itself, so that no Job is deleted before its end has been recorded. Exactly one of
	// jobTemplate and jobTemplateRef must be set; both or neither is refused.
	// +optional
	JobTemplate *batchv1.JobSpec `json:"jobTemplate,omitempty"`

	// JobTemplateRef is the name of a JobTemplate in the same namespace with the spec of the Job. While it doesn't
	// exist, this flow waits (the condition Ready has the reason JobTemplateNotFound), and the others continue. Exactly
	// one of jobTemplate and jobTemplateRef must be set; both or neither is refused.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	JobTemplateRef string `json:"jobTemplateRef,omitempty"`

	// ShareVolumeMounts are mounted into every container and init container of the flow's pods, except where a container
	// has its own mount at the same path. Each must name one of shareVolumes or a volume of the template; another name
	// is refused.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	ShareVolumeMounts []corev1.VolumeMount `json:"shareVolumeMounts,omitempty"`
}

// Input passes the output of a dependency to a flow.
type Input struct {
	// Env is the name of the environment variable, set in every container and init container that doesn't set it itself.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Env string `json:"env"`

	// From is the name of the flow with the output. It must be one of the dependencies; in finally it can be any flow.
	// The output of a flow is the termination message of its pod's first container that has one. An output of 4096 bytes
	// or more, where Kubernetes cuts it, or with a NUL byte, is lost. A Job with several pods has the output of the pod
	// with the lowest completion index, or of the oldest one. A flow that hasn't succeeded, or that has forEach, has an
	// empty output.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	From string `json:"from"`
}

// ForEach is a list of items, each of which gets a Job. The containers get the item as the variable ITEM, and its
// position, counted from 0, as ITEM_INDEX.
//
// +kubebuilder:validation:XValidation:rule="has(self.items) != (has(self.fromOutput) && size(self.fromOutput) > 0)",message="exactly one of items and fromOutput must be set"
type ForEach struct {
	// Items are the items. At most 1000.
	// Exactly one of items and fromOutput must be set.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Items []string `json:"items,omitzero"`

	// FromOutput is the name of a dependency whose output is a JSON list. Strings are used unchanged, other values as
	// JSON. An output that isn't a list, or has more than 1000 items, fails the flow with a message. It counts as 1000
	// of the 100,000 Jobs that a JobFlow may have. Exactly one of items and fromOutput must be set.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	FromOutput string `json:"fromOutput,omitempty"`

	// MaxParallel is the maximum number of active Jobs at a time, at least 1. By default only the JobFlow's parallelism
	// limits them.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxParallel *int32 `json:"maxParallel,omitempty"`
}
