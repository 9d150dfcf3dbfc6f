package builder

import (
	"context"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ownerChanged passes an owner's new spec, labels, annotations and deletion. Our own status writes are no reason to
// look again. A kind without generations (a ConfigMap) may have changed anywhere.
var ownerChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld, e.ObjectNew
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return false // the cache's own resync
	}
	return after.GetGeneration() == 0 || before.GetGeneration() != after.GetGeneration() ||
		before.GetUID() != after.GetUID() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		!sameAnnotations(before.GetAnnotations(), after.GetAnnotations())
}}

// sameAnnotations compares an owner's annotations, but for those that the builder writes.
func sameAnnotations(a, b map[string]string) bool {
	return isWithin(a, b) && isWithin(b, a)
}

// isWithin reports whether b has all that a has.
func isWithin(a, b map[string]string) bool {
	for name, value := range a {
		if name == AnnotationGroupKinds || name == AnnotationGroupKindsCrossNamespace {
			continue
		}
		if other, ok := b[name]; !ok || other != value {
			return false
		}
	}
	return true
}

// referredKind is a kind that owners name in their spec.
type referredKind[T client.Object] struct {
	kind  kind
	like  client.Object
	names func(T) []string
	index string // of owners by the names in them
}

func (r referredKind[T]) indexValues(obj client.Object) []string {
	return r.names(obj.(T))
}

// owners returns what finds the owners to look at when a referred object changes.
func (r referredKind[T]) owners(e *Engine) handler.MapFunc {
	return func(ctx context.Context, referred client.Object) []reconcile.Request {
		requests, err := r.find(ctx, e, referred)
		if err != nil {
			log.FromContext(ctx).Error(err, "find the owners that refer to an object", "name", referred.GetName())
		}
		return requests
	}
}

func (r referredKind[T]) find(ctx context.Context, e *Engine, referred client.Object) ([]reconcile.Request, error) {
	k, err := e.kinds.of(newOwner[T]())
	if err != nil {
		return nil, err
	}
	list, err := e.kinds.emptyList(k)
	if err != nil {
		return nil, err
	}
	// A cluster-scoped object is in no namespace: owners in all of them can name it.
	err = e.client.List(ctx, list, client.UnsafeDisableDeepCopy,
		client.InNamespace(referred.GetNamespace()), client.MatchingFields{r.index: referred.GetName()})
	if err != nil {
		return nil, err
	}
	return requestsFor(list)
}
