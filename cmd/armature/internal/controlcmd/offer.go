package controlcmd

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Offered returns the verbs that change something of an object in its present state. It reads a few fields, however large the object is.
func Offered(obj *unstructured.Unstructured) []string {
	small := decisive(obj)
	var verbs []string
	for _, a := range actions {
		field, err := a.fieldOf(small)
		if err != nil {
			continue
		}
		after := small.DeepCopy()
		if a.set(after, field) == nil && !equality.Semantic.DeepEqual(small, after) {
			verbs = append(verbs, a.verb)
		}
	}
	return verbs
}

// decisive returns an object with the fields alone that actions read and set.
func decisive(obj *unstructured.Unstructured) *unstructured.Unstructured {
	small := &unstructured.Unstructured{Object: map[string]any{"apiVersion": obj.GetAPIVersion(), "kind": obj.GetKind()}}
	small.SetDeletionTimestamp(obj.GetDeletionTimestamp())
	small.SetAnnotations(obj.GetAnnotations())
	for _, path := range []string{
		"spec.suspend", "spec.runPolicy.suspend", "spec.retry", "spec.terminate",
		"status.state", "status.startTime", "status.completionTime", "status.retry", "status.failed",
	} {
		fields := strings.Split(path, ".")
		value, found, err := unstructured.NestedFieldNoCopy(obj.Object, fields...)
		if !found || err != nil {
			continue
		}
		switch value.(type) {
		case string, bool, int64:
			_ = unstructured.SetNestedField(small.Object, value, fields...) // fails on no object of these paths
		}
	}
	return small
}
