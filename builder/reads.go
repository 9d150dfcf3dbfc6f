package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Reads names a kind of which all plans look at all objects, in the whole cluster or as far as the manager's cache
// reaches: the nodes. They are in the view, see [All]. When one is created or deleted the plans of all owners run, and
// when one changes in a way that matters: changed is given the object before and after, and must change neither. Nil:
// each change matters. Choose it narrowly: a node's status changes every few minutes, and every pass costs a look at
// all objects of the kind. The kind must have a Go type.
//
//	Reads(&corev1.Node{}, func(before, after client.Object) bool {
//		return !maps.Equal(before.GetLabels(), after.GetLabels())
//	})
func (o *Operator[T]) Reads(kind client.Object, changed func(before, after client.Object) bool) *Operator[T] {
	o.reads = append(o.reads, readKind{like: kind, changed: changed})
	return o
}

// All returns the objects of one kind, also those that are being deleted, ordered by namespace and name. The kind must
// be one that the operator Reads. The slice is the caller's, its objects are not.
//
//	for _, node := range builder.All[*corev1.Node](seen) { ... }
func All[R client.Object](v View) []R { return find[R](v, sourceRead, v.read) }

// WithRead returns the view with objects of kinds that the operator Reads, for tests of plans.
func (v View) WithRead(objs ...client.Object) View {
	read := make(map[reflect.Type][]client.Object, len(v.read))
	for t, of := range v.read {
		read[t] = append([]client.Object(nil), of...)
	}
	for _, o := range objs {
		t := reflect.TypeOf(o)
		read[t] = append(read[t], o)
	}
	for _, of := range read {
		sortByName(of)
	}
	v.read = read
	return v
}

// readKind is a kind of which all plans look at all objects.
type readKind struct {
	kind    kind
	like    client.Object
	changed func(before, after client.Object) bool
}

func (o *Operator[T]) checkReads() ([]readKind, error) {
	var reads []readKind
	var errs []error
	for _, r := range o.reads {
		k, err := o.engine.kinds.of(r.like)
		if err == nil && !o.engine.kinds.isTyped(k, r.like) {
			err = fmt.Errorf("%w: %T of kind %s; it must be of the kind's own Go type", ErrMisuse, r.like, k.gvk.Kind)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("Reads: %w", err))
		}
		r.kind = k
		reads = append(reads, r)
	}
	return reads, errors.Join(errs...)
}

// lookAround puts into the view what all plans look at.
func (l *loop[T]) lookAround(ctx context.Context, v *View) error {
	for _, r := range l.reads {
		list, err := l.engine.kinds.emptyList(r.kind)
		if err != nil {
			return err
		}
		if err := l.engine.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("list %s: %w", r.kind.gvk.GroupKind(), err)
		}
		var objs []client.Object
		err = meta.EachListItem(list, func(o runtime.Object) error {
			if obj, ok := o.(client.Object); ok {
				objs = append(objs, obj)
			}
			return nil
		})
		if err != nil {
			return err
		}
		sortByName(objs)
		if v.read == nil {
			v.read = map[reflect.Type][]client.Object{}
		}
		v.read[reflect.TypeOf(r.like)] = objs
	}
	return nil
}

// matters passes what is a reason for all owners' plans to run. What exists when the program starts is none: all owners
// are looked at then anyway, once the cache has it.
func (r readKind) matters() predicate.Funcs {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
		UpdateFunc: func(e event.UpdateEvent) bool {
			if e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() {
				return false // the cache's own resync
			}
			return r.changed == nil || r.changed(e.ObjectOld, e.ObjectNew)
		},
	}
}

// allOwners returns what finds all owners, as far as the cache reaches.
func allOwners(e *Engine, owner kind) handler.MapFunc {
	return func(ctx context.Context, read client.Object) []reconcile.Request {
		list, err := e.kinds.emptyList(owner)
		if err == nil {
			err = e.client.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
		}
		if err != nil {
			log.FromContext(ctx).Error(err, "find the owners that look at an object", "name", read.GetName())
			return nil
		}
		requests, err := requestsFor(list)
		if err != nil {
			log.FromContext(ctx).Error(err, "find the owners that look at an object", "name", read.GetName())
		}
		return requests
	}
}

// requestsFor returns a request for each object of a list.
func requestsFor(list client.ObjectList) ([]reconcile.Request, error) {
	requests := make([]reconcile.Request, 0, meta.LenList(list))
	err := meta.EachListItem(list, func(o runtime.Object) error {
		if owner, ok := o.(client.Object); ok {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
		}
		return nil
	})
	return requests, err
}
