package builder_test

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var widgetVersion = schema.GroupVersion{Group: "test.armature.dev", Version: "v1"}

// Widget is a custom resource of these tests; its CRD is in testdata.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec,omitempty"`
	Status            WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct {
	// Data becomes a ConfigMap's.
	Data map[string]string `json:"data,omitempty"`
	// Children are the names of the ConfigMaps.
	Children []string `json:"children,omitempty"`
	// Source is the name of a Secret that the widget waits for.
	Source string `json:"source,omitempty"`
	// Replicas is that of a Deployment, if set.
	Replicas *int32 `json:"replicas,omitempty"`
}

type WidgetStatus struct {
	Seen       []string           `json:"seen,omitempty"`
	Source     string             `json:"source,omitempty"`
	Passes     int                `json:"passes,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

func (w *Widget) Conditions() *[]metav1.Condition { return &w.Status.Conditions }

func (w *Widget) DeepCopyObject() runtime.Object { return w.DeepCopy() }

func (w *Widget) DeepCopy() *Widget {
	c := *w
	c.ObjectMeta = *w.ObjectMeta.DeepCopy()
	c.Spec.Data = map[string]string{}
	maps.Copy(c.Spec.Data, w.Spec.Data)
	c.Spec.Children = slices.Clone(w.Spec.Children)
	if w.Spec.Replicas != nil {
		c.Spec.Replicas = new(int32)
		*c.Spec.Replicas = *w.Spec.Replicas
	}
	c.Status.Seen = slices.Clone(w.Status.Seen)
	c.Status.Conditions = slices.Clone(w.Status.Conditions)
	return &c
}

// WidgetList is a list of widgets.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

func (l *WidgetList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = make([]Widget, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopy()
	}
	return &c
}
