package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// GroupVersion is the group and version of the kinds.
var GroupVersion = schema.GroupVersion{Group: "examples.armature.dev", Version: "v1"}

// AddToScheme adds the kinds to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &KVStore{}, &KVStoreList{}, &KVStoreScaling{}, &KVStoreScalingList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// KVStore is a small distributed store of keys and values: coordinators, storage nodes and gateways.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Upgrade",type=string,JSONPath=`.status.upgrade.duration`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type KVStore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KVStoreSpec           `json:"spec"`
	Status v1beta1.ClusterStatus `json:"status,omitempty"`
}

// KVStoreSpec describes a store by its nodes. Their types are coordinator, storage and gateway.
type KVStoreSpec struct {
	v1beta1.ClusterSpec `json:",inline"`
}

// Conditions is where the builder reports.
func (s *KVStore) Conditions() *[]metav1.Condition { return &s.Status.Conditions }

// Description is the store in DSOI's terms.
func (s *KVStore) Description() v1beta1.ClusterSpec { return s.Spec.ClusterSpec }

// ClusterStatus is where the engine reports.
func (s *KVStore) ClusterStatus() *v1beta1.ClusterStatus { return &s.Status }

// KVStoreList is a list of KVStores.
//
// +kubebuilder:object:root=true
type KVStoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KVStore `json:"items"`
}

// KVStoreScaling scales nodes of a KVStore.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Replicas",type=string,JSONPath=`.status.nodes[*].replicas`
// +kubebuilder:printcolumn:name="Value",type=string,JSONPath=`.status.nodes[*].value`
type KVStoreScaling struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KVStoreScalingSpec    `json:"spec"`
	Status v1beta1.ScalingStatus `json:"status,omitempty"`
}

// KVStoreScalingSpec says how nodes of a KVStore are scaled.
type KVStoreScalingSpec struct {
	v1beta1.ScalingSpec `json:",inline"`
}

// Conditions is where the builder reports.
func (s *KVStoreScaling) Conditions() *[]metav1.Condition { return &s.Status.Conditions }

// ScalingSpec is the scaling in DSOI's terms.
func (s *KVStoreScaling) ScalingSpec() *v1beta1.ScalingSpec { return &s.Spec.ScalingSpec }

// ScalingStatus is where the controller reports.
func (s *KVStoreScaling) ScalingStatus() *v1beta1.ScalingStatus { return &s.Status }

// KVStoreScalingList is a list of KVStoreScalings.
//
// +kubebuilder:object:root=true
type KVStoreScalingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KVStoreScaling `json:"items"`
}
