package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobFlow runs Jobs in the order of their dependencies. Each Job is started once everything it depends on has
// succeeded; when a Job fails, those that depend on it are skipped and the rest goes on.
// Once a flow has ended, nothing runs again: create a new JobFlow to repeat it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=jf
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.state"
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
// While the flow runs, a change takes effect for what hasn't been started: a Job that exists stays as it is, nodes can
// be added, and a node that is taken out is forgotten (its Job, if there is one, is left alone). Once the flow has
// ended, a change has no effect.
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

	// Flows are the nodes of the graph, each of which becomes one Job. At least one is needed.
	// A list with duplicate names, an unknown dependency or a cycle is refused: nothing is created, and the conditions
	// Ready and Stalled (reason InvalidSpec) name the flow and the field.
	// +optional
	// +listType=atomic
	Flows []Flow `json:"flows,omitempty"`
}

// Flow is a node of a JobFlow's graph: a Job, and what must have succeeded before it starts.
type Flow struct {
	// Name identifies the flow among the others of the JobFlow and must be unique there: lower case letters, digits
	// and '-', at most 63 characters, other names are refused. The Job is called <jobflow>-<name>; if that is longer
	// than 63 characters, it is cut and a hash takes the place of the rest.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Dependencies are the names of the flows that must have succeeded before this one starts. When one of them fails
	// or is skipped, this one is skipped. Names that no flow has, the flow's own, those given twice, and cycles are
	// refused. Empty, the default, starts at once.
	// +optional
	// +listType=atomic
	Dependencies []string `json:"dependencies,omitempty"`

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
	JobTemplateRef string `json:"jobTemplateRef,omitempty"`

	// ShareVolumeMounts are mounted into every container and init container of the flow's pods, except where a
	// container has a mount of its own at the same path. Each must name one of shareVolumes or a volume of the
	// template; another name is refused.
	// +optional
	// +listType=atomic
	ShareVolumeMounts []corev1.VolumeMount `json:"shareVolumeMounts,omitempty"`
}

// JobFlowList is a list of JobFlows.
//
// +kubebuilder:object:root=true
type JobFlowList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []JobFlow `json:"items"`
}
