package sources

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// Source is one watch of an operator.
type Source interface {
	// Index registers the cache indexes that Observe and Handler use. Without indexes, as in tests, they list and filter.
	Index(ctx context.Context, indexer client.FieldIndexer) error
	// Handler returns the mapping of events to requests.
	Handler() handler.EventHandler
	// Observe returns the objects that the plan of an owner with these children reads.
	Observe(ctx context.Context, owner client.Object, children map[store.Key]client.Object) ([]client.Object, error)
}

// Watch selects the owners and the objects of a source.
type Watch struct {
	Reader
	Owner, Kind kinds.Kind
	// AnOwner and Like are an empty owner and an empty object of Kind.
	AnOwner, Like client.Object
	// Field is a name for a cache index that no other watch has.
	Field string
	// Concerns reduces the owners of an event. Nil: all that read the object.
	Concerns Concerns
}

// Concerns returns the owners that a change of an object concerns: whether all that read it, and the named ones. before is nil for a
// created object, after for a deleted one.
type Concerns func(before, after client.Object) (all bool, names []types.NamespacedName)

// queue is an operator's queue of requests.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// handler returns a handler that enqueues the owners that an event concerns. The function all enqueues those that read the object.
func (c Concerns) handler(all func(ctx context.Context, q queue, obj client.Object)) handler.EventHandler {
	enqueue := func(ctx context.Context, q queue, obj, before, after client.Object) {
		concernsAll, names := c.call(before, after)
		if concernsAll {
			all(ctx, q, obj)
		}
		for _, name := range names {
			q.Add(reconcile.Request{NamespacedName: name})
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				enqueue(ctx, q, e.Object, nil, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() { // equal: the cache's own resync
				enqueue(ctx, q, e.ObjectNew, e.ObjectOld, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			enqueue(ctx, q, e.Object, e.Object, nil)
		},
	}
}

// mapped returns a function that can fail as a MapFunc. It logs an error, because a MapFunc can't return one.
func mapped(k kinds.Kind, owners func(context.Context, client.Object) ([]reconcile.Request, error)) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		requests, err := owners(ctx, obj)
		if err != nil && ctx.Err() == nil { // otherwise the manager stops
			log.FromContext(ctx).Error(err, "map an event to owners",
				"kind", k.GVK.GroupKind().String(), "namespace", obj.GetNamespace(), "name", obj.GetName())
		}
		return requests
	}
}

// enqueueAll returns a function that enqueues the requests of a MapFunc.
func enqueueAll(owners handler.MapFunc) func(context.Context, queue, client.Object) {
	return func(ctx context.Context, q queue, obj client.Object) {
		for _, r := range owners(ctx, obj) {
			q.Add(r)
		}
	}
}
