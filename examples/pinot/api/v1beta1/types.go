package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// GroupVersion is the group and version of the kind.
var GroupVersion = schema.GroupVersion{Group: "datainfra.io", Version: "v1beta1"}

// AddToScheme adds the kind to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Pinot{}, &PinotList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Pinot is a cluster of Apache Pinot: controllers, brokers, servers and minions.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Pinot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PinotSpec             `json:"spec"`
	Status v1beta1.ClusterStatus `json:"status,omitempty"`
}

// PinotSpec describes a cluster. Pinot calls the application's config groups pinotNodeConfig.
type PinotSpec struct {
	v1beta1.ClusterSpec `json:",inline"`

	// PinotNodeConfig are Pinot's own configuration: name, java_opts, and data, which is the node's configuration file.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	PinotNodeConfig v1beta1.AppConfigGroups `json:"pinotNodeConfig,omitempty"`
}

// Conditions is where the builder reports.
func (p *Pinot) Conditions() *[]metav1.Condition { return &p.Status.Conditions }

// Description is the cluster in DSOI's terms.
func (p *Pinot) Description() v1beta1.ClusterSpec {
	spec := p.Spec.ClusterSpec
	spec.MyAppConfigGroup = p.Spec.PinotNodeConfig
	return spec
}

// ClusterStatus is where the engine reports.
func (p *Pinot) ClusterStatus() *v1beta1.ClusterStatus { return &p.Status }

// PinotList is a list of Pinots.
//
// +kubebuilder:object:root=true
type PinotList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Pinot `json:"items"`
}
