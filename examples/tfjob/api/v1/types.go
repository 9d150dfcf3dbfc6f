package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// GroupVersion is the group and version of the kind.
var GroupVersion = schema.GroupVersion{Group: "examples.armature.dev", Version: "v1"}

// AddToScheme adds the kind to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &TFJob{}, &TFJobList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Types of a TFJob's replicas, besides Chief and Worker.
const (
	// PS are parameter servers.
	PS v1alpha1.ReplicaType = "PS"
	// Evaluator looks at the results; it has no part in the training.
	Evaluator v1alpha1.ReplicaType = "Evaluator"
)

// TFJob is a distributed TensorFlow job. Its containers have TF_CONFIG, as tf.distribute reads it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type TFJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TFJobSpec                 `json:"spec"`
	Status v1alpha1.ReplicaJobStatus `json:"status,omitempty"`
}

// TFJobSpec is what to run.
type TFJobSpec struct {
	// TFReplicaSpecs are the Chief, PS, Worker and Evaluator.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=4
	// +kubebuilder:validation:XValidation:rule="self.all(t, t in ['Chief', 'PS', 'Worker', 'Evaluator'])",message="the types are Chief, PS, Worker and Evaluator"
	TFReplicaSpecs map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec `json:"tfReplicaSpecs"`
	// RunPolicy says how the job runs and ends.
	// +optional
	RunPolicy v1alpha1.RunPolicy `json:"runPolicy,omitempty"`
	// SuccessPolicy says when the job has succeeded. Default: when the Chief has, or, without one, Worker 0.
	// +optional
	SuccessPolicy *v1alpha1.ReplicaSuccessPolicy `json:"successPolicy,omitempty"`
}

// Conditions is where the engine says how far the job is.
func (j *TFJob) Conditions() *[]metav1.Condition { return &j.Status.Conditions }

// TFJobList is a list of TFJobs.
//
// +kubebuilder:object:root=true
type TFJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TFJob `json:"items"`
}
