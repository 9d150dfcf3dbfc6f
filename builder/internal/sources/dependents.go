package sources

import (
	"context"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

type dependents struct {
	Watch
	parent       kinds.Kind
	byController *ByController
}

// Dependents returns the source of objects that an owner's children of the kind parent control.
func Dependents(w Watch, parent kinds.Kind, byController *ByController) Source {
	return &dependents{w, parent, byController}
}

// Index indexes the objects by their controller, unless the kind is indexed already, as a kind of children is.
func (s *dependents) Index(ctx context.Context, indexer client.FieldIndexer) error {
	if s.byController.Has(s.Kind) {
		return nil
	}
	return s.byController.Add(ctx, indexer, s.Kind, s.Like)
}

func (s *dependents) Handler() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(mapped(s.Kind, s.owners))
}

// Observe lists the objects of each parent in the index of an informer. Without an informer, many parents cost one list of the namespace
// instead, unless that is cut off by its limit.
func (s *dependents) Observe(ctx context.Context, owner client.Object, children map[store.Key]client.Object) ([]client.Object, error) {
	parents := map[types.UID]client.Object{}
	for key, obj := range children {
		if key.GroupKind() == s.parent.GVK.GroupKind() && kinds.IsUntyped(obj) == s.parent.Untyped && metav1.IsControlledBy(obj, owner) {
			parents[obj.GetUID()] = obj
		}
	}
	if len(parents) == 0 {
		return nil, nil
	}
	indexed := s.byController.Has(s.Kind) // always, except in tests
	if !s.byController.hasInformer(s.Kind) && (!indexed || len(parents) >= manyParents) {
		options := []client.ListOption{client.DisableReadYourWritesConsistency} // the parents' controllers write them
		limit := math.MaxInt
		if indexed {
			limit = fewOthers * len(parents)
			options = append(options, client.Limit(limit))
		}
		options = append(options, client.InNamespace(owner.GetNamespace()))
		n := 0
		all, err := s.List(ctx, s.Kind, func(obj client.Object) bool {
			n++
			ref := metav1.GetControllerOfNoCopy(obj)
			return ref != nil && parents[ref.UID] != nil
		}, options...)
		if err != nil || n < limit {
			return all, err
		}
	}
	var found []client.Object
	for uid := range parents {
		own, err := s.byController.List(ctx, s.From, uid, owner.GetNamespace(), s.Kind)
		if err != nil {
			return nil, err
		}
		found = append(found, own...)
	}
	return found, nil
}

const (
	// manyParents is the number of parents from which on the source lists all objects of a namespace, if there is no informer. One list
	// is ten times faster than one for each parent.
	manyParents = 16
	// fewOthers is the maximum number of objects in the namespace for each parent. With more, the source lists each parent's objects.
	fewOthers = 32
)

// owners returns the owner of a grandchild: its controller's controller. If the cache doesn't have the controller it returns none, and
// the controller's own event enqueues the owner.
func (s *dependents) owners(ctx context.Context, grandchild client.Object) ([]reconcile.Request, error) {
	ref := controllerOfKind(grandchild, s.parent.GVK.GroupKind())
	if ref == nil {
		return nil, nil
	}
	key, err := s.nameIn(s.parent, grandchild.GetNamespace(), ref.Name)
	if err != nil {
		return nil, err
	}
	parent, err := s.Kinds.Empty(s.parent)
	if err != nil {
		return nil, err
	}
	err = s.From.Get(ctx, key, parent, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil || parent.GetUID() != ref.UID {
		return nil, client.IgnoreNotFound(err)
	}
	if ref = controllerOfKind(parent, s.Owner.GVK.GroupKind()); ref == nil {
		return nil, nil
	}
	if key, err = s.nameIn(s.Owner, parent.GetNamespace(), ref.Name); err != nil {
		return nil, err
	}
	return []reconcile.Request{{NamespacedName: key}}, nil
}

// controllerOfKind returns the reference to an object's controller, if the controller has the kind.
func controllerOfKind(obj client.Object, gk schema.GroupKind) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil || ref.Kind != gk.Kind || inventory.GroupOf(ref.APIVersion) != gk.Group {
		return nil
	}
	return ref
}
