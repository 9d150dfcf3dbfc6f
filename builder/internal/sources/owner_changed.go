package sources

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/armature-dev/armature/internal/wellknown"
)

// OwnerChanged passes events of an owner's new spec, labels, annotations and deletion. A status write of the builder enqueues no
// owner. In a kind without generations (a ConfigMap) it passes a change of any field.
var OwnerChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld, e.ObjectNew
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return false // the cache's own resync
	}
	return after.GetGeneration() == 0 || before.GetGeneration() != after.GetGeneration() ||
		before.GetUID() != after.GetUID() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		!isWithin(before.GetAnnotations(), after.GetAnnotations()) || !isWithin(after.GetAnnotations(), before.GetAnnotations())
}}

// isWithin reports whether b has all annotations of a, except those that the builder writes.
func isWithin(a, b map[string]string) bool {
	for name, value := range a {
		if name == wellknown.AnnotationGroupKinds || name == wellknown.AnnotationGroupKindsCrossNamespace {
			continue
		}
		if other, ok := b[name]; !ok || other != value {
			return false
		}
	}
	return true
}
