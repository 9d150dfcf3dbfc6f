package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobTemplate is the spec of a Job that JobFlows of the same namespace refer to by name (jobTemplateRef). It runs
// nothing by itself. A change takes effect for Jobs that are created after it; existing Jobs stay unchanged.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=jt
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type JobTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the content of the template.
	// +required
	Spec JobTemplateSpec `json:"spec"`
}

// JobTemplateSpec is the content of a JobTemplate.
type JobTemplateSpec struct {
	// JobTemplate is the spec of the Jobs, with all fields of batch/v1 (see kubectl explain job.spec). A JobFlow changes
	// it in the same way as an inline template: see kubectl explain jobflow.spec.flows.jobTemplate.
	// +required
	JobTemplate batchv1.JobSpec `json:"jobTemplate"`
}

// JobTemplateList is a list of JobTemplates.
//
// +kubebuilder:object:root=true
type JobTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []JobTemplate `json:"items"`
}
