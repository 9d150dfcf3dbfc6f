package diagnose

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
)

// Object is an object of any kind, with its events and its children.
type Object struct {
	*unstructured.Unstructured
	// Events about it, the latest last.
	Events []Event
	// Owned are ordered by age, the oldest first.
	Owned []*Object

	conditions []metav1.Condition
	pod        *corev1.Pod
	job        *batchv1.Job
}

// NewObject returns an object with its parsed conditions, and as a Pod or Job if it is one.
func NewObject(u *unstructured.Unstructured, events []Event, owned ...*Object) *Object {
	o := &Object{Unstructured: u, Events: events, Owned: owned}
	o.readConditions()
	switch u.GroupVersionKind().GroupKind().String() {
	case "Pod":
		o.pod = &corev1.Pod{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o.pod) != nil {
			o.pod = nil
		}
	case "Job.batch":
		o.job = &batchv1.Job{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o.job) != nil {
			o.job = nil
		}
	}
	return o
}

// Of returns the objects of a family with their events.
func Of(m *family.Member, events map[types.UID][]Event) *Object {
	owned := make([]*Object, len(m.Owned))
	for i, child := range m.Owned {
		owned[i] = Of(child, events)
	}
	return NewObject(m.Unstructured, events[m.GetUID()], owned...)
}

func (o *Object) readConditions() {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		c, ok := item.(map[string]any)
		if !ok {
			continue
		}
		text := func(key string) string { s, _, _ := unstructured.NestedString(c, key); return s }
		generation, _, _ := unstructured.NestedInt64(c, "observedGeneration")
		since, _ := time.Parse(time.RFC3339, text("lastTransitionTime"))
		o.conditions = append(o.conditions, metav1.Condition{
			Type: text("type"), Status: metav1.ConditionStatus(text("status")), Reason: text("reason"), Message: text("message"),
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(since),
		})
	}
}

// Ref returns the object's name.
func (o *Object) Ref() Ref {
	return Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// isOurs reports whether an object is of one of Armature's kinds.
func (o *Object) isOurs() bool { return o.GroupVersionKind().Group == v1alpha1.GroupVersion.Group }

// is reports whether an object is of one of these kinds.
func (o *Object) is(kinds ...string) bool {
	for _, kind := range kinds {
		if o.GetKind() == kind {
			return true
		}
	}
	return false
}

// condition returns a condition, nil if the object doesn't have it.
func (o *Object) condition(kind string) *metav1.Condition {
	for i := range o.conditions {
		if o.conditions[i].Type == kind {
			return &o.conditions[i]
		}
	}
	return nil
}

// isTrue returns a condition if it is True, else nil.
func (o *Object) isTrue(kind string) *metav1.Condition {
	if c := o.condition(kind); c != nil && c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

// isFalse returns a condition if it is False, else nil.
func (o *Object) isFalse(kind string) *metav1.Condition {
	if c := o.condition(kind); c != nil && c.Status == metav1.ConditionFalse {
		return c
	}
	return nil
}

func (o *Object) text(fields ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, fields...)
	return s
}

func (o *Object) number(fields ...string) int64 {
	n, _, _ := unstructured.NestedInt64(o.Object, fields...)
	return n
}

// has reports whether a field is set.
func (o *Object) has(fields ...string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(o.Object, fields...)
	return err == nil && found
}

func (o *Object) flag(fields ...string) bool {
	b, _, _ := unstructured.NestedBool(o.Object, fields...)
	return b
}

// warning returns the latest warning with one of these reasons, nil if there is none.
func (o *Object) warning(reasons ...string) *Event {
	for i := len(o.Events) - 1; i >= 0; i-- {
		e := &o.Events[i]
		for _, reason := range reasons {
			if e.Type == corev1.EventTypeWarning && e.Reason == reason {
				return e
			}
		}
	}
	return nil
}
