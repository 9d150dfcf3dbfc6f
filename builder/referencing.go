package builder

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// Referencing watches objects that name owners of their own namespace: Pods with the cluster's name in a label, a policy
// that refers to its target. owners returns the names of the owners in an object, and must not change it; it takes the
// watched kind's Go type or client.Object. [Watched] returns the objects that name the owner. An event enqueues the owners
// that the object names and those that it named before.
//
// Anyone who can write such an object can name an owner in it. A plan must not do more for it than its author may do.
func Referencing[K client.Object](owners func(obj K) []string) WatchOption {
	return watchOption(func(w *watchConfig) {
		if owners == nil {
			w.misused("Referencing needs a function that returns the names of owners")
			return
		}
		takes[K](w, "Referencing", w.like)
		w.mapped = true
		names := func(obj client.Object) []string { return owners(obj.(K)) }
		w.sources = append(w.sources, func() source { return &referencing{w.engine, w.kind, w.like, names, w.index, false} })
	})
}

// referencing is the source of Referencing.
type referencing struct {
	engine  *Engine
	kind    kinds.Kind
	like    client.Object
	names   func(client.Object) []string
	field   string // the cache index of the objects by the names in them
	indexed bool   // not in tests of a Reconciler
}

func (s *referencing) index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, s.like, s.field, s.names); err != nil {
		return fmt.Errorf("index %s by the names of owners: %w", s.kind.GVK.GroupKind(), err)
	}
	s.indexed = true
	return nil
}

func (s *referencing) handler() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, name := range s.names(obj) {
			if name != "" {
				requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: name}})
			}
		}
		return requests
	})
}

func (s *referencing) observe(ctx context.Context, p *pass) ([]client.Object, error) {
	among := []client.ListOption{client.InNamespace(p.owner.GetNamespace())}
	if s.indexed {
		among = append(among, client.MatchingFields{s.field: p.owner.GetName()})
	}
	return s.engine.listObjects(ctx, s.kind, func(obj client.Object) bool {
		return slices.Contains(s.names(obj), p.owner.GetName())
	}, among...)
}
