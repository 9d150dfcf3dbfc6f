package payload

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Stored returns the JSON fields of an object as it was read from a cluster, without its status and the fields that only the server
// writes.
func Stored(obj client.Object) (map[string]any, error) {
	var fields map[string]any
	if u, ok := obj.(*unstructured.Unstructured); ok {
		fields = runtime.DeepCopyJSON(u.Object)
	} else {
		var err error
		if fields, err = runtime.DefaultUnstructuredConverter.ToUnstructured(obj); err != nil {
			return nil, fmt.Errorf("fields of %T %s: %w", obj, obj.GetName(), err)
		}
	}
	for _, name := range []string{"apiVersion", "kind", "status"} {
		delete(fields, name)
	}
	if meta, ok := fields["metadata"].(map[string]any); ok {
		for _, name := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"} {
			delete(meta, name)
		}
	}
	return fields, nil
}
