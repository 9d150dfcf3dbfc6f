package buildertest

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusOf returns an object's status, to be handed to setStatus; nil if the kind has none.
func statusOf(obj client.Object) any { return topLevel(obj, "Status") }

func setStatus(obj client.Object, status any) { setTopLevel(obj, "Status", status) }

func clearStatus(obj client.Object) { setTopLevel(obj, "Status", nil) }

func topLevel(obj client.Object, name string) any {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return runtime.DeepCopyJSONValue(u.Object[lower(name)])
	}
	f := reflect.ValueOf(obj).Elem().FieldByName(name)
	if !f.IsValid() {
		return nil
	}
	return reflect.ValueOf(obj.DeepCopyObject()).Elem().FieldByName(name).Interface()
}

func setTopLevel(obj client.Object, name string, value any) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if value == nil {
			delete(u.Object, lower(name))
		} else {
			u.Object[lower(name)] = value
		}
		return
	}
	f := reflect.ValueOf(obj).Elem().FieldByName(name)
	switch {
	case !f.IsValid():
	case value == nil:
		f.SetZero()
	default:
		f.Set(reflect.ValueOf(value))
	}
}

func lower(name string) string { return string(name[0]|0x20) + name[1:] }

// specOf returns the part of an object whose change increases the generation: without the metadata and, where it is a subresource, the
// status.
func specOf(k kind, obj client.Object) client.Object {
	c := copyOf(obj)
	if k.status {
		clearStatus(c)
	}
	if u, ok := c.(*unstructured.Unstructured); ok {
		delete(u.Object, "metadata")
		return c
	}
	reflect.ValueOf(c).Elem().FieldByName("ObjectMeta").SetZero()
	return c
}
