package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Flow is a node of a JobFlow's graph: a Job, and what must have come before it starts.
//
// +kubebuilder:validation:XValidation:rule="has(self.jobTemplate) != (has(self.jobTemplateRef) && size(self.jobTemplateRef) > 0)",message="exactly one of jobTemplate and jobTemplateRef must be set"
type Flow struct {
	// Name identifies the flow among the others of the JobFlow and must be unique there: lower case letters, digits
	// and '-', beginning and ending with a letter or digit, at most 63 characters. The Job is called <jobflow>-<name>, with forEach
	// <jobflow>-<name>-<index>; if that is longer than 63 characters, it is cut and a hash takes the place of the rest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Dependencies are the names of the flows that must have ended before this one is decided: without when it is started
	// if all of them succeeded, or failed and have allowFailure, and else skipped. Names that no flow has, the flow's own,
	// those given twice, and cycles are refused. Empty, the default, starts at once.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	Dependencies []string `json:"dependencies,omitempty"`

	// When is a CEL expression that says, once all dependencies have ended, whether the flow is started (true) or skipped
	// (false). It is over the dependencies' outcomes: jobs.<name>.succeeded, .failed and .skipped, which are bools, and
	// .output, a string. A name with '-' is written jobs["a-b"]. In finally, jobs has all flows, and state is "Succeed" or
	// "Failed". At most 4096 characters. An expression that doesn't compile, isn't a bool, or names a flow that is no
	// dependency is refused; one that can't be evaluated, or costs too much, fails the flow. All expressions of a JobFlow
	// may have 1 MiB and 200,000 names, numbers, texts and other symbols together, and take 5 million steps as CEL
	// estimates them. By default all dependencies must have succeeded, or failed with allowFailure.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	When string `json:"when,omitempty"`

	// AllowFailure, if true, lets the JobFlow go on and succeed although this flow fails, as GitLab's allow_failure and
	// Argo's continueOn.failed do. Its state is Failed all the same, and so a when sees it; but flows that depend on it without
	// when start, failFast takes no notice, and its failure doesn't fail the JobFlow. Its output is empty then. A retry
	// of the JobFlow runs it again. It may be changed until the JobFlow has ended; a flow that is taken out of the spec
	// once it has failed counts as one without it. Default: false.
	// +optional
	AllowFailure bool `json:"allowFailure,omitempty"`

	// Inputs pass outputs of dependencies to the flow's containers, as environment variables. At most 100.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Inputs []Input `json:"inputs,omitempty"`

	// ForEach runs one Job for each item of a list, all from this flow's template. The flow succeeds when all of them do;
	// with an empty list it succeeds at once. If items fail, the others still run, and then the flow fails.
	// +optional
	ForEach *ForEach `json:"forEach,omitempty"`

	// JobTemplate is the spec of the Job, with all fields of batch/v1 (see kubectl explain job.spec), but:
	// the pod's restartPolicy is always Never, whatever it says;
	// backoffLimit is 0 unless set here, so that a failed pod fails the Job (with backoffLimitPerIndex, the API
	// server's default applies);
	// ttlSecondsAfterFinished is kept by the operator in the API server's place, so that a Job is never deleted before
	// its end has been recorded.
	// Exactly one of jobTemplate and jobTemplateRef must be set; both or neither is refused.
	// +optional
	JobTemplate *batchv1.JobSpec `json:"jobTemplate,omitempty"`

	// JobTemplateRef is the name of a JobTemplate in the same namespace that has the spec of the Job. As long as it
	// doesn't exist, this flow waits (and the condition Ready says JobTemplateNotFound), while the others go on.
	// Exactly one of jobTemplate and jobTemplateRef must be set; both or neither is refused.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	JobTemplateRef string `json:"jobTemplateRef,omitempty"`

	// ShareVolumeMounts are mounted into every container and init container of the flow's pods, except where a
	// container has a mount of its own at the same path. Each must name one of shareVolumes or a volume of the
	// template; another name is refused.
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

	// From is the name of the flow whose output it is. It must be one of the dependencies, in finally any flow. The output
	// of a flow is the termination message of its pod's first container that has one; from 4096 bytes on, where
	// Kubernetes cuts it, it is lost, and so is one with a NUL byte. Of a Job with
	// several pods, of the one with the lowest completion index, or else that was created first. A flow that hasn't
	// succeeded has an empty output, and so has one with forEach.
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

	// FromOutput is the name of a dependency whose output is a JSON list. Strings are taken as they are, other values as
	// JSON. An output that is no list, or has more than 1000 items, fails the flow with a message. It counts as 1000 of the
	// 100,000 Jobs that a JobFlow may come to have.
	// Exactly one of items and fromOutput must be set.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	FromOutput string `json:"fromOutput,omitempty"`

	// MaxParallel is how many of the Jobs may be active at a time, at least 1. By default there is no limit but the
	// JobFlow's parallelism.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxParallel *int32 `json:"maxParallel,omitempty"`
}
