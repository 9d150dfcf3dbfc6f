package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Owners says which owners' plans are to run. The zero value is none.
type Owners struct {
	// All are all owners that look at the object: all there are of a kind that the operator Reads, those that name it of
	// one that it Refers to.
	All bool
	// Names are further owners. Those that don't exist are passed over.
	Names []types.NamespacedName
}

// Wakes narrows down which owners' plans run when an object of a kind that the operator Reads or Refers to is created
// (before is nil), changes, or is deleted (after is nil): those that which names, in place of all that look at it. It is
// for one object that thousands look at, of which a change concerns a few: the head of a queue. Which must be pure, and
// change neither object. In place of a function given to Reads, which must be nil then.
//
// An owner that isn't woken sees the change when something else runs its plan. What exists when the program starts wakes
// no one: all plans run then anyway.
func (o *Operator[T]) Wakes(kind client.Object, which func(before, after client.Object) Owners) *Operator[T] {
	o.wakes = append(o.wakes, wake{like: kind, which: which})
	return o
}

// wake is a kind whose changes concern some owners.
type wake struct {
	like  client.Object
	which func(before, after client.Object) Owners
}

// checkWakes refuses those that would wake no one, or whom something else wakes.
func (o *Operator[T]) checkWakes() error {
	var errs []error
	for i, w := range o.wakes {
		looked := false
		for _, r := range o.reads {
			if sameType(r.like, w.like) {
				looked = true
				if r.changed != nil {
					errs = append(errs, fmt.Errorf("%w: Wakes: %T has a function in Reads, too; give one of them", ErrMisuse, w.like))
				}
			}
		}
		for _, r := range o.refs {
			looked = looked || sameType(r.like, w.like)
		}
		if !looked {
			errs = append(errs, fmt.Errorf("%w: Wakes: %T must be among what the operator Reads or Refers to", ErrMisuse, w.like))
		}
		if w.which == nil {
			errs = append(errs, fmt.Errorf("%w: Wakes: %T needs a function", ErrMisuse, w.like))
		}
		for _, other := range o.wakes[:i] {
			if sameType(other.like, w.like) {
				errs = append(errs, fmt.Errorf("%w: Wakes: %T is given twice", ErrMisuse, w.like))
			}
		}
	}
	return errors.Join(errs...)
}

func sameType(a, b client.Object) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }

// wakerOf returns what says whom a change of a kind concerns, and false if it concerns all.
func (o *Operator[T]) wakerOf(kind client.Object) (wake, bool) {
	for _, w := range o.wakes {
		if sameType(w.like, kind) {
			return w, true
		}
	}
	return wake{}, false
}

// handler returns what puts the owners that a change concerns into the queue; all finds those that look at an object.
func (w wake) handler(all handler.MapFunc) handler.EventHandler {
	return w.handlerOf(func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request], obj client.Object) {
		for _, r := range all(ctx, obj) {
			q.Add(r)
		}
	})
}

// handlerOf is handler with what puts all owners that look at an object into the queue.
func (w wake) handlerOf(
	addAll func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request], client.Object),
) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(ctx context.Context, q queue, obj, before, after client.Object) {
		owners := w.which(before, after)
		if owners.All {
			addAll(ctx, q, obj)
		}
		for _, name := range owners.Names {
			q.Add(reconcile.Request{NamespacedName: name})
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				add(ctx, q, e.Object, nil, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() { // else the cache's own resync
				add(ctx, q, e.ObjectNew, e.ObjectOld, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			add(ctx, q, e.Object, e.Object, nil)
		},
	}
}
