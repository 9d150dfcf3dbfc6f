package buildertest

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/testhook"
)

// wakes maps events to the requests that a manager would enqueue for an operator.
type wakes struct {
	testhook.Wiring
	scheme *runtime.Scheme
	owners handler.EventHandler // made once, because a client may take long to make its RESTMapper
}

// wakesOf returns the mapping of an operator's reconciler, and registers the indexes that it needs; nil for another reconciler.
func wakesOf(ctx context.Context, r reconcile.Reconciler, c *Client) (*wakes, error) {
	wiring, ok := testhook.WiringOf(r)
	if !ok {
		return nil, nil
	}
	for _, source := range wiring.Sources {
		if source.IsIndexed {
			continue
		}
		if err := source.Index(ctx, c); err != nil {
			return nil, err
		}
	}
	owners := handler.EnqueueRequestForOwner(c.Scheme(), c.RESTMapper(), wiring.AnOwner, handler.OnlyControllerOwner())
	return &wakes{wiring, c.Scheme(), owners}, nil
}

// by returns the requests that an event enqueues. before is nil for a created object, after for a deleted one.
func (w *wakes) by(ctx context.Context, before, after client.Object) []reconcile.Request {
	q := &queued{}
	obj := after
	if obj == nil {
		obj = before
	}
	gvk, err := apiutil.GVKForObject(obj, w.scheme)
	if err != nil {
		return nil
	}
	gk := gvk.GroupKind()
	update := event.UpdateEvent{ObjectOld: before, ObjectNew: after}
	if gk == w.Owner && (before == nil || after == nil || sources.OwnerChanged.Update(update)) {
		q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
	}
	for _, side := range []client.Object{before, after} {
		if side != nil {
			w.byChild(ctx, q, gk, side)
		}
	}
	for _, source := range w.Sources {
		if source.Kind != gk {
			continue
		}
		switch h := source.Handler(); {
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

// byChild enqueues the owner of a child of an owned kind.
func (w *wakes) byChild(ctx context.Context, q *queued, gk schema.GroupKind, obj client.Object) {
	for _, k := range w.CrossNamespace {
		if k.GVK.GroupKind() == gk {
			for _, request := range sources.CrossNamespaceOwner(w.Owner)(ctx, obj) {
				q.Add(request)
			}
		}
	}
	for _, k := range w.Owned() {
		if k.GVK.GroupKind() == gk {
			w.owners.Generic(ctx, event.GenericEvent{Object: obj}, q)
		}
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
