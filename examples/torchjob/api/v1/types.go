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
	s.AddKnownTypes(GroupVersion, &TorchJob{}, &TorchJobList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// TorchJob is a distributed PyTorch job: one master, and workers. Its containers have MASTER_ADDR, MASTER_PORT,
// WORLD_SIZE and RANK, as torch.distributed reads them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.torchReplicaSpecs.Worker.replicas,statuspath=.status.replicaStatuses.Worker.active,selectorpath=.status.replicaStatuses.Worker.selector
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type TorchJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TorchJobSpec              `json:"spec"`
	Status v1alpha1.ReplicaJobStatus `json:"status,omitempty"`
}

// TorchJobSpec is what to run.
//
// +kubebuilder:validation:XValidation:rule="!has(self.elasticPolicy) || !('Worker' in self.torchReplicaSpecs) || !has(self.torchReplicaSpecs['Worker'].replicas) || (self.torchReplicaSpecs['Worker'].replicas >= self.elasticPolicy.minReplicas && self.torchReplicaSpecs['Worker'].replicas <= self.elasticPolicy.maxReplicas)",message="Worker.replicas must be elasticPolicy.minReplicas to maxReplicas"
type TorchJobSpec struct {
	// TorchReplicaSpecs are the Master, of which there is one, and the Worker.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=2
	// +kubebuilder:validation:XValidation:rule="self.all(t, t in ['Master', 'Worker'])",message="the types are Master and Worker"
	TorchReplicaSpecs map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec `json:"torchReplicaSpecs"`
	// RunPolicy says how the job runs and ends.
	// +optional
	RunPolicy v1alpha1.RunPolicy `json:"runPolicy,omitempty"`
	// ElasticPolicy lets the job run with different numbers of workers; kubectl scale changes how many.
	// +optional
	ElasticPolicy *ElasticPolicy `json:"elasticPolicy,omitempty"`
}

// ElasticPolicy is how many workers an elastic job may have.
type ElasticPolicy struct {
	// MinReplicas is the smallest number of workers.
	// +kubebuilder:validation:Minimum=0
	MinReplicas int32 `json:"minReplicas"`
	// MaxReplicas is the largest.
	// +kubebuilder:validation:Minimum=1
	MaxReplicas int32 `json:"maxReplicas"`
}

// Conditions is where the engine says how far the job is.
func (j *TorchJob) Conditions() *[]metav1.Condition { return &j.Status.Conditions }

// TorchJobList is a list of TorchJobs.
//
// +kubebuilder:object:root=true
type TorchJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TorchJob `json:"items"`
}
