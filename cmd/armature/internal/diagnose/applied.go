package diagnose

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/internal/wellknown"
)

// toChange returns how to change a field: with a command, or in the spec of the owner if its operator applies the field.
func (o *Object) toChange(command string, field ...string) string {
	if !o.isApplied(field...) {
		return command
	}
	owner := "its owner"
	if ref := metav1.GetControllerOf(o); ref != nil {
		owner = strings.ToLower(ref.Kind) + "/" + ref.Name
	} else if name := o.GetAnnotations()[wellknown.AnnotationOwner]; name != "" {
		owner += " " + name
	}
	return "change the spec of " + owner + ", whose operator undoes other changes"
}

// isApplied reports whether an operator of Armature applies a field: the managed fields with the digest, which only such an operator
// writes, have the field, too. Other fields the operator leaves to other writers.
func (o *Object) isApplied(field ...string) bool {
	managed := func(entry map[string]any, path ...string) bool {
		full := []string{"fieldsV1"}
		for _, name := range path {
			full = append(full, "f:"+name)
		}
		_, found, _ := unstructured.NestedFieldNoCopy(entry, full...)
		return found
	}
	list, _, _ := unstructured.NestedSlice(o.Object, "metadata", "managedFields")
	for _, item := range list {
		entry, ok := item.(map[string]any)
		if ok && managed(entry, "metadata", "annotations", wellknown.AnnotationDigest) && managed(entry, field...) {
			return true
		}
	}
	return false
}
