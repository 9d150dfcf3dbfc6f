package sources

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/store"
)

type referencedBy struct {
	Watch
	names    func(owner client.Object) []string
	throttle *Throttle
}

// ReferencedBy returns the source of objects that an owner's spec names, in the owner's namespace or cluster-scoped. names returns the
// names. An operator has one Throttle for all such sources.
func ReferencedBy(w Watch, names func(owner client.Object) []string, throttle *Throttle) Source {
	return &referencedBy{w, names, throttle}
}

func (s *referencedBy) Index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, s.AnOwner, s.Field, logged(s.names)); err != nil {
		return fmt.Errorf("index owners by the names of %s: %w", s.Kind.GVK.GroupKind(), err)
	}
	return nil
}

func (s *referencedBy) Handler() handler.EventHandler {
	return s.handlerOf(mapped(s.Kind, func(ctx context.Context, obj client.Object) ([]reconcile.Request, error) {
		// A cluster-scoped object has no namespace, and owners in all namespaces can name it.
		return s.requests(ctx, s.Owner, client.InNamespace(obj.GetNamespace()), client.MatchingFields{s.Field: obj.GetName()})
	}))
}

// handlerOf returns a handler for a mapping of an object to the owners that name it.
func (s *referencedBy) handlerOf(owners handler.MapFunc) handler.EventHandler {
	return s.Concerns.handler(func(ctx context.Context, q queue, obj client.Object) { s.throttle.add(q, owners(ctx, obj)) })
}

func (s *referencedBy) Observe(ctx context.Context, owner client.Object, _ map[store.Key]client.Object) ([]client.Object, error) {
	names, err := namesOf(s.names, owner)
	if err != nil {
		return nil, err
	}
	var objs []client.Object
	for _, name := range sortedNames(names) {
		at, err := s.nameIn(s.Kind, owner.GetNamespace(), name)
		if err != nil {
			return nil, err
		}
		key := store.KeyOf(s.Kind.GVK, at.Namespace, at.Name)
		obj, err := s.Get(ctx, s.Kind, key)
		if err != nil && !apierrors.IsNotFound(err) { // also for a missing kind
			return nil, fmt.Errorf("read %s: %w", key, err)
		}
		if obj != nil {
			objs = append(objs, obj)
		}
	}
	return objs, nil
}

// sortedNames returns the names in order, without duplicates and the empty name.
func sortedNames(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	slices.Sort(names)
	return slices.Compact(names)
}
