package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// NamedIn names a kind whose objects name owners of their own namespace: pods that carry their cluster's name, a policy
// that refers to what it is for. names returns the owners' names that an object has; it must not change the object. When
// such an object appears, changes or goes, the plans of the owners that it names run; the view has it, see [Naming].
//
// Anyone who can write such an object can name an owner in it. A plan must not do more for it than its author may do.
// The kind must have a Go type.
func (o *Operator[T]) NamedIn(kind client.Object, names func(client.Object) []string) *Operator[T] {
	o.naming = append(o.naming, namingKind{like: kind, names: names, index: fmt.Sprintf("armature.names/%s/%d", o.name, len(o.naming))})
	return o
}

// Naming returns the objects of one kind that name the owner, also those that are being deleted, ordered by name. The
// kind must be one that the owner is NamedIn. The slice is the caller's, its objects are not.
//
//	for _, pod := range builder.Naming[*corev1.Pod](seen) { ... }
func Naming[N client.Object](v View) []N { return find[N](v, sourceNaming, v.naming) }

// NamingLike is [Naming] for a type that is only known by an object of it.
func (v View) NamingLike(like client.Object) []client.Object {
	objs, ok := v.naming[reflect.TypeOf(like)]
	if !ok {
		v.check(sourceNaming, reflect.TypeOf(like))
	}
	return slices.Clone(objs)
}

// WithNaming returns the view with objects that name the owner, for tests of plans.
func (v View) WithNaming(objs ...client.Object) View {
	naming := make(map[reflect.Type][]client.Object, len(v.naming))
	for t, of := range v.naming {
		naming[t] = slices.Clone(of)
	}
	for _, o := range objs {
		t := reflect.TypeOf(o)
		naming[t] = append(naming[t], o)
	}
	for _, of := range naming {
		sortByName(of)
	}
	v.naming = naming
	return v
}

// namingKind is a kind whose objects name owners.
type namingKind struct {
	kind  kind
	like  client.Object
	names func(client.Object) []string
	index string // of the objects by the names in them
}

func (o *Operator[T]) checkNaming() ([]namingKind, error) {
	var naming []namingKind
	var errs []error
	for _, n := range o.naming {
		k, err := o.engine.kinds.of(n.like)
		if err == nil && (!o.engine.kinds.isTyped(k, n.like) || n.names == nil) {
			err = fmt.Errorf("%w: %s needs its own Go type and a function that returns names", ErrMisuse, k.gvk.Kind)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("NamedIn: %w", err))
		}
		n.kind = k
		naming = append(naming, n)
	}
	return naming, errors.Join(errs...)
}

// lookForNames puts into the view what names the owner.
func (l *loop[T]) lookForNames(ctx context.Context, owner T, v *View) error {
	for _, n := range l.naming {
		list, err := l.engine.kinds.emptyList(n.kind)
		if err != nil {
			return err
		}
		among := []client.ListOption{client.InNamespace(owner.GetNamespace()), client.UnsafeDisableDeepCopy}
		if l.indexed {
			among = append(among, client.MatchingFields{n.index: owner.GetName()})
		}
		if err := l.engine.client.List(ctx, list, among...); err != nil {
			return fmt.Errorf("list %s that name %s: %w", n.kind.gvk.GroupKind(), owner.GetName(), err)
		}
		var objs []client.Object
		err = meta.EachListItem(list, func(o runtime.Object) error {
			if obj, ok := o.(client.Object); ok && slices.Contains(n.names(obj), owner.GetName()) {
				objs = append(objs, obj)
			}
			return nil
		})
		if err != nil {
			return err
		}
		sortByName(objs)
		if v.naming == nil {
			v.naming = map[reflect.Type][]client.Object{}
		}
		v.naming[reflect.TypeOf(n.like)] = objs
	}
	return nil
}

// owners finds the owners to look at when an object that names them changes.
func (n namingKind) owners() handler.MapFunc {
	return func(_ context.Context, obj client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, name := range n.names(obj) {
			if name != "" {
				requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: name}})
			}
		}
		return requests
	}
}
