package payload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serverFields are the fields of metadata that only the API server sets.
var serverFields = []string{
	"creationTimestamp", "resourceVersion", "uid", "generation", "managedFields", "selfLink",
	"deletionTimestamp", "deletionGracePeriodSeconds",
}

// Of returns the JSON fields to send for obj, an object of the kind gvk. Maps are the caller's to change.
// Left out: status, what the server sets in metadata, nulls, and what is empty without a pointer asking for it.
func Of(obj client.Object, gvk schema.GroupVersionKind) (map[string]any, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("marshal %s %s: %w", gvk.Kind, obj.GetName(), err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("unmarshal %s %s: %w", gvk.Kind, obj.GetName(), err)
	}
	dropUnset(reflect.ValueOf(obj), fields)
	dropNulls(fields)
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

// Digest returns a digest of a payload: the same in every process, whatever the order of maps.
func Digest(fields map[string]any) (string, error) {
	data, err := json.Marshal(fields) // sorts keys
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), nil
}
