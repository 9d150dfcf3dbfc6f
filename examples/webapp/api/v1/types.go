package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the kind.
var GroupVersion = schema.GroupVersion{Group: "examples.armature.dev", Version: "v1"}

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
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Greeting",type=string,JSONPath=`.spec.greeting`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type WebApp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WebAppSpec   `json:"spec"`
	Status WebAppStatus `json:"status,omitempty"`
}

// WebAppSpec is the desired state.
type WebAppSpec struct {
	// Image of the web server.
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// Command to run in place of the image's own.
	// +optional
	Command []string `json:"command,omitempty"`
	// Replicas is the number of servers.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// Greeting is what the servers answer. A change reaches them without a restart.
	// +kubebuilder:default="Hello"
	// +optional
	Greeting string `json:"greeting,omitempty"`
}

// WebAppStatus is the observed state.
type WebAppStatus struct {
	// ReadyReplicas is the number of servers that answer.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// Conditions: Ready is True when all servers are there, of the latest version.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
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
