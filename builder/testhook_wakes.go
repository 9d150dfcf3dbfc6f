package builder

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/sources"
)

// indexWatches registers the indexes that the handlers of the watches use, as Complete does.
func (r *reconciler[T]) indexWatches(indexer client.FieldIndexer) error {
	for _, w := range r.watches {
		if w.from == plancheck.Owned {
			continue
		}
		if err := w.Index(context.Background(), indexer); err != nil {
			return err
		}
	}
	return nil
}

// wakes returns the requests that an event of an object enqueues, by the sources that Complete gives to the manager. before is nil for a
// created object, after for a deleted one.
func (r *reconciler[T]) wakes(ctx context.Context, before, after client.Object) []reconcile.Request {
	q := &queued{}
	obj := after
	if obj == nil {
		obj = before
	}
	gvk, err := apiutil.GVKForObject(obj, r.engine.client.Scheme())
	if err != nil {
		return nil
	}
	gk := gvk.GroupKind()
	update := event.UpdateEvent{ObjectOld: before, ObjectNew: after}
	if gk == r.owner.GVK.GroupKind() && (before == nil || after == nil || sources.OwnerChanged.Update(update)) {
		q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
	}
	for _, side := range []client.Object{before, after} {
		if side != nil {
			r.wakesOwner(ctx, q, gk, side)
		}
	}
	for _, w := range r.watches {
		if k, err := r.engine.kinds.Of(w.like); err != nil || k.GVK.GroupKind() != gk {
			continue
		}
		switch h := w.Handler(); {
		case before == nil:
			h.Create(ctx, event.CreateEvent{Object: after}, q)
		case after == nil:
			h.Delete(ctx, event.DeleteEvent{Object: before}, q)
		default:
			h.Update(ctx, update, q)
		}
	}
	return q.requests
}

// wakesOwner enqueues the owner of a child of an owned kind.
func (r *reconciler[T]) wakesOwner(ctx context.Context, q *queued, gk schema.GroupKind, obj client.Object) {
	for _, k := range r.crossNamespace {
		if k.GVK.GroupKind() == gk {
			for _, request := range sources.CrossNamespaceOwner(r.owner.GVK.GroupKind())(ctx, obj) {
				q.Add(request)
			}
		}
	}
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil || ref.Kind != r.owner.GVK.Kind || inventory.GroupOf(ref.APIVersion) != r.owner.GVK.Group {
		return
	}
	for _, k := range r.owned.Load().kinds {
		if k.GVK.GroupKind() != gk {
			continue
		}
		key := types.NamespacedName{Name: ref.Name}
		if namespaced, err := r.engine.client.IsObjectNamespaced(newOwner[T]()); err == nil && namespaced {
			key.Namespace = obj.GetNamespace()
		}
		q.Add(reconcile.Request{NamespacedName: key})
	}
}

// queued collects the requests that handlers enqueue.
type queued struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request] // nil: handlers only add

	requests []reconcile.Request
}

func (q *queued) Add(r reconcile.Request)                       { q.requests = append(q.requests, r) }
func (q *queued) AddAfter(r reconcile.Request, _ time.Duration) { q.Add(r) }
func (q *queued) AddRateLimited(r reconcile.Request)            { q.Add(r) }
