package rules

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateFinalizers refuses finalizers of built-in kinds that have no domain and no known name.
func ValidateFinalizers(finalizers []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, f := range finalizers {
		switch {
		case strings.Contains(f, "/"):
		case f == string(corev1.FinalizerKubernetes), f == metav1.FinalizerOrphanDependents, f == metav1.FinalizerDeleteDependents:
		default:
			errs = append(errs, field.Invalid(path.Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}
