package builder

import (
	"context"
	"errors"
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

// Dependents watches a kind of which the children control objects in turn: the Pods of Jobs. [Owned] returns them together
// with the owner's children of their kind. An event of such a grandchild enqueues its owner. Plans can only read them: they
// are their controller's, and a plan that edits, deletes or desires one is refused with [ErrNotOwned]. Children in other
// namespaces have no dependents here.
//
//	Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{}))
func Dependents(kind client.Object) OwnsOption { return ownsOption{dependents: kind} }

// declaredDependents is an option Dependents, not yet checked.
type declaredDependents struct{ parent, like client.Object }

// dependents is the source of Dependents.
type dependents struct {
	engine              *Engine
	owner, parent, kind kinds.Kind
}

func (d declaredDependents) check(e *Engine, owner kinds.Kind) (source, error) {
	parent, parentErr := e.kinds.Of(d.parent)
	k, err := e.kinds.Of(d.like)
	if err := errors.Join(parentErr, err); err != nil {
		return nil, err
	}
	return &dependents{e, owner, parent, k}, nil
}

// index does nothing: [Operator.index] indexes dependents as it does children, by their controller.
func (s *dependents) index(context.Context, client.FieldIndexer) error { return nil }

func (s *dependents) handler() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(mapped(s.kind, s.owners))
}

func (s *dependents) observe(ctx context.Context, p *pass) ([]client.Object, error) {
	parents := map[types.UID]client.Object{}
	for key, obj := range p.observed {
		if key.GroupKind() == s.parent.GVK.GroupKind() && kinds.IsUntyped(obj) == s.parent.Untyped && metav1.IsControlledBy(obj, p.owner) {
			parents[obj.GetUID()] = obj
		}
	}
	if len(parents) == 0 {
		return nil, nil
	}
	i, indexed := s.engine.indexOf(s.kind) // but in tests
	if i.informer == nil && (!indexed || len(parents) >= manyParents) {
		options := []client.ListOption{client.DisableReadYourWritesConsistency} // the parents' controllers write them
		limit := math.MaxInt
		if indexed {
			limit = fewOthers * len(parents)
			options = append(options, client.Limit(limit))
		}
		options = append(options, client.InNamespace(p.owner.GetNamespace()))
		n := 0
		all, err := s.engine.listObjects(ctx, s.kind, func(obj client.Object) bool {
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
		own, err := s.engine.controlledBy(ctx, uid, p.owner.GetNamespace(), s.kind)
		if err != nil {
			return nil, err
		}
		found = append(found, own...)
	}
	return found, nil
}

const (
	// manyParents is the number of parents from which on all objects of a namespace are listed where there is no informer,
	// which is ten times faster than to list those of each parent,
	manyParents = 16
	// fewOthers is how many objects a parent the namespace may have; with more, each parent's are listed after all.
	fewOthers = 32
)

// owners returns the owner of a grandchild: its controller's controller. If the cache doesn't have the controller there is
// none: the controller's own event enqueues the owner.
func (s *dependents) owners(ctx context.Context, grandchild client.Object) ([]reconcile.Request, error) {
	ref := controllerOfKind(grandchild, s.parent.GVK.GroupKind())
	if ref == nil {
		return nil, nil
	}
	key, err := s.engine.nameIn(s.parent, grandchild.GetNamespace(), ref.Name)
	if err != nil {
		return nil, err
	}
	parent, err := s.engine.kinds.Empty(s.parent)
	if err != nil {
		return nil, err
	}
	err = s.engine.client.Get(ctx, key, parent, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil || parent.GetUID() != ref.UID {
		return nil, client.IgnoreNotFound(err)
	}
	if ref = controllerOfKind(parent, s.owner.GVK.GroupKind()); ref == nil {
		return nil, nil
	}
	if key, err = s.engine.nameIn(s.owner, parent.GetNamespace(), ref.Name); err != nil {
		return nil, err
	}
	return []reconcile.Request{{NamespacedName: key}}, nil
}

// controllerOfKind returns the reference to an object's controller, if that is of a kind.
func controllerOfKind(obj client.Object, gk schema.GroupKind) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil || ref.Kind != gk.Kind || inventory.GroupOf(ref.APIVersion) != gk.Group {
		return nil
	}
	return ref
}

// nameIn returns where an object of a kind is that is referred to from a namespace.
func (e *Engine) nameIn(k kinds.Kind, namespace, name string) (types.NamespacedName, error) {
	like, err := e.kinds.Empty(k)
	if err != nil {
		return types.NamespacedName{}, err
	}
	namespaced, err := e.kinds.IsNamespaced(k, like)
	if !namespaced {
		namespace = ""
	}
	return store.KeyOf(k.GVK, namespace, name).NamespacedName(), err
}
