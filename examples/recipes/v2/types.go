// Package v2 has the second version of the kind WebApp in the recipe "Serve a second version of the kind".
//
// +kubebuilder:object:generate=true
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

//go:generate go tool -modfile=../../../tools/gen/go.mod controller-gen object paths=.

// GroupVersion is the group and version of the kind.
var GroupVersion = schema.GroupVersion{Group: v1.GroupVersion.Group, Version: "v2"}

// AddToScheme adds the kind to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &WebApp{}, &WebAppList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// WebApp is a web server that greets.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type WebApp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WebAppSpec      `json:"spec"`
	Status v1.WebAppStatus `json:"status,omitempty"`
}

// WebAppSpec is the desired state.
type WebAppSpec struct {
	Image    string   `json:"image"`
	Command  []string `json:"command,omitempty"`
	Replicas *int32   `json:"replicas,omitempty"`
	// Page is what the servers answer. In v1 it was only the greeting.
	Page Page `json:"page,omitempty"`
}

// Page is the page of a WebApp.
type Page struct {
	Greeting string `json:"greeting,omitempty"`
	// Title is new in v2.
	Title string `json:"title,omitempty"`
}

// Conditions returns the conditions, which the builder sets for a Plan with Report.
func (w *WebApp) Conditions() *[]metav1.Condition { return &w.Status.Conditions }

// WebAppList is a list of WebApps.
//
// +kubebuilder:object:root=true
type WebAppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WebApp `json:"items"`
}
