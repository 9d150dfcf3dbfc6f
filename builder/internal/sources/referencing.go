package sources

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/store"
)

type referencing struct {
	Watch
	names   func(client.Object) []string
	indexed bool // false in tests of a Reconciler
}

// Referencing returns the source of objects that name owners in their own namespace. names returns the names of these owners.
func Referencing(w Watch, names func(obj client.Object) []string) Source {
	return &referencing{Watch: w, names: logged(names)}
}

func (s *referencing) Index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, s.Like, s.Field, s.names); err != nil {
		return fmt.Errorf("index %s by the names of owners: %w", s.Kind.GVK.GroupKind(), err)
	}
	s.indexed = true
	return nil
}

func (s *referencing) Handler() handler.EventHandler {
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

func (s *referencing) Observe(ctx context.Context, owner client.Object, _ map[store.Key]client.Object) ([]client.Object, error) {
	among := []client.ListOption{client.InNamespace(owner.GetNamespace())}
	if s.indexed {
		among = append(among, client.MatchingFields{s.Field: owner.GetName()})
	}
	return s.List(ctx, s.Kind, func(obj client.Object) bool { return slices.Contains(s.names(obj), owner.GetName()) }, among...)
}
