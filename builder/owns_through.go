package builder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/store"
)

// OwnsThrough names a kind of which owners' children of another kind, parent, have children: the Pods of the Jobs that
// the operator Owns. A change of such a grandchild runs its owner's plan, and the view has it: see [Owned]. They are
// only looked at: they are the parent's, and can't be wanted, edited, deleted or pruned by a plan. The parent's kind must
// be one that the operator Owns; [CrossNamespace] children have no grandchildren here.
func (o *Operator[T]) OwnsThrough(parent, kind client.Object) *Operator[T] {
	o.through = append(o.through, throughKind{likeParent: parent, like: kind})
	return o
}

// throughKind is a kind of grandchildren.
type throughKind struct {
	parent, kind     kind
	likeParent, like client.Object
}

func (o *Operator[T]) checkThrough(owned []kind) ([]throughKind, error) {
	var through []throughKind
	var errs []error
	for _, t := range o.through {
		var parentErr, err error
		t.parent, parentErr = o.engine.kinds.of(t.likeParent)
		t.kind, err = o.engine.kinds.of(t.like)
		if err = errors.Join(parentErr, err); err == nil && !slices.Contains(owned, t.parent) {
			err = fmt.Errorf("%w: %s are to be found through %s, which must be among what the operator Owns",
				ErrMisuse, t.kind.gvk.GroupKind(), t.parent.gvk.GroupKind())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("OwnsThrough: %w", err))
		}
		through = append(through, t)
	}
	return through, errors.Join(errs...)
}

// lookThrough reads what the owner's children control.
func (l *loop[T]) lookThrough(ctx context.Context, p *pass) ([]client.Object, error) {
	var found []client.Object
	for _, t := range l.through {
		parents := map[types.UID]client.Object{}
		for key, obj := range p.seen {
			if key.GroupKind() == t.parent.gvk.GroupKind() && isUntyped(obj) == t.parent.untyped && metav1.IsControlledBy(obj, p.owner) {
				parents[obj.GetUID()] = obj
			}
		}
		if len(parents) == 0 {
			continue
		}
		inNamespace := client.InNamespace(p.owner.GetNamespace())
		i, indexed := l.engine.indexOf(t.kind) // but in tests
		if i.informer == nil && (!indexed || len(parents) >= manyParents) {
			var options []client.ListOption
			limit := math.MaxInt
			if indexed {
				limit = fewOthers * len(parents)
				options = append(options, client.Limit(limit))
			}
			all, n, err := l.engine.listControlled(ctx, t.kind, parents, append(options, inNamespace)...)
			if err != nil {
				return nil, err
			}
			if n < limit {
				found = append(found, all...)
				continue
			}
		}
		for uid := range parents {
			own, err := l.engine.controlledBy(ctx, uid, p.owner.GetNamespace(), t.kind)
			if err != nil {
				return nil, err
			}
			found = append(found, own...)
		}
	}
	return found, nil
}

const (
	// manyParents is from how many parents on all objects of a namespace are looked at where there is no informer at hand,
	// which is ten times quicker than to ask the client for those of each parent,
	manyParents = 16
	// fewOthers is how many there may be of them for each parent; else each is asked for after all.
	fewOthers = 32
)

// listControlled returns the objects of a kind, among those listed, that one of the parents controls, and how many were
// listed.
func (e *Engine) listControlled(
	ctx context.Context, k kind, parents map[types.UID]client.Object, among ...client.ListOption,
) (controlled []client.Object, listed int, err error) {
	list, err := e.kinds.emptyList(k)
	if err != nil {
		return nil, 0, err
	}
	among = append(among, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency) // the parent's controller writes them
	if err := e.client.List(ctx, list, among...); err != nil {
		return nil, 0, fmt.Errorf("list %s: %w", k.gvk.GroupKind(), err)
	}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		listed++
		obj, ok := o.(client.Object)
		if !ok {
			return nil
		}
		if ref := metav1.GetControllerOfNoCopy(obj); ref != nil && parents[ref.UID] != nil {
			controlled = append(controlled, obj)
		}
		return nil
	})
	return controlled, listed, err
}

// owners returns what finds the owner to look at when a grandchild changes: its controller's controller. If the cache
// doesn't have the controller (any more) there is none: that it appears or goes is a reason of its own to look.
func (t throughKind) owners(e *Engine, owner kind) handler.MapFunc {
	return func(ctx context.Context, grandchild client.Object) []reconcile.Request {
		request, err := t.findOwner(ctx, e, owner, grandchild)
		if err != nil {
			log.FromContext(ctx).Error(err, "find the owner of an object's controller",
				"kind", t.kind.gvk.GroupKind().String(), "namespace", grandchild.GetNamespace(), "name", grandchild.GetName())
		}
		return request
	}
}

func (t throughKind) findOwner(ctx context.Context, e *Engine, owner kind, grandchild client.Object) ([]reconcile.Request, error) {
	ref := controllerOfKind(grandchild, t.parent.gvk.GroupKind())
	if ref == nil {
		return nil, nil
	}
	key, err := e.nameIn(t.parent, grandchild.GetNamespace(), ref.Name)
	if err != nil {
		return nil, err
	}
	parent, err := e.kinds.empty(t.parent)
	if err != nil {
		return nil, err
	}
	err = e.client.Get(ctx, key, parent, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil || parent.GetUID() != ref.UID {
		return nil, client.IgnoreNotFound(err)
	}
	if ref = controllerOfKind(parent, owner.gvk.GroupKind()); ref == nil {
		return nil, nil
	}
	if key, err = e.nameIn(owner, parent.GetNamespace(), ref.Name); err != nil {
		return nil, err
	}
	return []reconcile.Request{{NamespacedName: key}}, nil
}

// controllerOfKind returns the reference to an object's controller, if that is of a kind.
func controllerOfKind(obj client.Object, gk schema.GroupKind) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil || ref.Kind != gk.Kind || groupOf(ref.APIVersion) != gk.Group {
		return nil
	}
	return ref
}

// nameIn returns where an object of a kind is that is referred to from a namespace.
func (e *Engine) nameIn(k kind, namespace, name string) (types.NamespacedName, error) {
	like, err := e.kinds.empty(k)
	if err != nil {
		return types.NamespacedName{}, err
	}
	namespaced, err := e.kinds.isNamespaced(k, like)
	if !namespaced {
		namespace = ""
	}
	return store.KeyOf(k.gvk, namespace, name).NamespacedName(), err
}
