package payload

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serverFields are the fields of metadata that only the API server sets.
var serverFields = []string{
	"creationTimestamp", "resourceVersion", "uid", "generation", "managedFields", "selfLink",
	"deletionTimestamp", "deletionGracePeriodSeconds",
}

// Of returns the JSON fields to send for obj, an object of the kind gvk. The caller may change the maps. It omits the status, metadata
// that the server sets, nulls, and empty values that aren't behind a pointer.
func Of(obj client.Object, gvk schema.GroupVersionKind) (map[string]any, error) {
	fields, err := fieldsOf(obj)
	if err != nil {
		return nil, fmt.Errorf("marshal %s %s: %w", gvk.Kind, obj.GetName(), err)
	}
	delete(fields, "status")
	meta, ok := fields["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		fields["metadata"] = meta
	}
	for _, f := range serverFields {
		delete(meta, f)
	}
	fields["apiVersion"], fields["kind"] = gvk.ToAPIVersionAndKind()
	return fields, nil
}

func fieldsOf(obj client.Object) (map[string]any, error) {
	v := reflect.ValueOf(obj)
	if _, untyped := obj.(*unstructured.Unstructured); untyped || MarshalsItself(v.Type().Elem()) {
		out, err := viaJSON(v)
		fields, ok := out.(map[string]any)
		if err == nil && !ok {
			err = fmt.Errorf("its JSON is no object but %T", out)
		}
		return fields, err
	}
	fields := map[string]any{}
	return fields, renderFields(v.Elem(), fields)
}
