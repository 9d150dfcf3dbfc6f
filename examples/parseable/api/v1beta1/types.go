package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// GroupVersion is the group and version of the kind.
var GroupVersion = schema.GroupVersion{Group: "parseable.io", Version: "v1beta1"}

// AddToScheme adds the kind to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &ParseableTenant{}, &ParseableTenantList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// ParseableTenant is a set of Parseable servers.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ParseableTenant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ParseableTenantSpec   `json:"spec"`
	Status v1beta1.ClusterStatus `json:"status,omitempty"`
}

// ParseableTenantSpec describes the servers. Parseable has called the application's config groups parseableConfigGroup,
// and parseableConfig.
type ParseableTenantSpec struct {
	v1beta1.ClusterSpec `json:",inline"`

	// ParseableConfigGroup are Parseable's own configuration: name; data, lines NAME=value that become environment
	// variables; or env, the same as a text or as a map; and cliArgs, the server's arguments.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	ParseableConfigGroup v1beta1.AppConfigGroups `json:"parseableConfigGroup,omitempty"`

	// ParseableConfig is another name of parseableConfigGroup.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	ParseableConfig v1beta1.AppConfigGroups `json:"parseableConfig,omitempty"`
}

// Conditions is where the builder reports.
func (p *ParseableTenant) Conditions() *[]metav1.Condition { return &p.Status.Conditions }

// Description is the tenant in DSOI's terms. Two names of one field that are both given are told of as such.
func (p *ParseableTenant) Description() v1beta1.ClusterSpec {
	spec := p.Spec.ClusterSpec
	spec.MyAppConfigGroup, spec.NodeAppConfigGroup = p.Spec.ParseableConfigGroup, p.Spec.ParseableConfig
	return spec
}

// ClusterStatus is where the engine reports.
func (p *ParseableTenant) ClusterStatus() *v1beta1.ClusterStatus { return &p.Status }

// ParseableTenantList is a list of ParseableTenants.
//
// +kubebuilder:object:root=true
type ParseableTenantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ParseableTenant `json:"items"`
}
