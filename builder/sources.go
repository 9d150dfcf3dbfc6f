package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// source is one watch of an operator: it maps the events of a kind to owners, and lists the objects that an owner's plan
// reads. There are four: [Dependents], [ReferencedBy], [Referencing] and [SeenByAll]. A fifth is a file of its own.
type source interface {
	// index registers the cache indexes that observe and handler look objects up in.
	index(ctx context.Context, indexer client.FieldIndexer) error
	// handler returns the mapping of events to requests.
	handler() handler.EventHandler
	// observe returns the objects that the plan of the pass's owner reads. They are shared with the cache: read only.
	observe(ctx context.Context, p *pass) ([]client.Object, error)
}

// watch is a checked source and its kind.
type watch struct {
	source
	like client.Object // an empty object of the kind
	from origin        // under which the View has the objects
}

// Watches watches objects other than the owner's children. One option says which owners an event concerns and which objects
// their plans read with [Watched] and [Lookup]: [ReferencedBy], [Referencing] or [SeenByAll]. [EnqueueFor] narrows the owners
// of an event. The kind must have a Go type. A kind may be watched more than once, and be owned as well: [Watched] returns the
// objects of all its watches. Errors are ErrMisuse, from Complete and Reconciler.
func (o *Operator[T]) Watches(kind client.Object, options ...WatchOption) *Operator[T] {
	o.watches = append(o.watches, declaredWatch{kind, options})
	return o
}

// WatchOption configures a watch of [Operator.Watches]: [ReferencedBy], [Referencing], [SeenByAll] and [EnqueueFor].
type WatchOption interface {
	applyToWatch(w *watchConfig)
}

// declaredWatch is a call of Watches, not yet checked.
type declaredWatch struct {
	like    client.Object
	options []WatchOption
}

// watchConfig collects the options of one watch.
type watchConfig struct {
	engine   *Engine
	owner    kinds.Kind
	anOwner  client.Object // an empty object
	kind     kinds.Kind
	like     client.Object
	index    string // a name for the watch's cache index
	throttle *referenceThrottle

	sources  []func() source // made once all options are known
	concerns concerns
	mapped   bool // the source maps an event to its owners by itself
	errs     []error
}

// misused records an error of an option.
func (w *watchConfig) misused(format string, args ...any) {
	w.errs = append(w.errs, fmt.Errorf("%w: "+format, append([]any{ErrMisuse}, args...)...))
}

// watchOption is an option as a function.
type watchOption func(w *watchConfig)

func (f watchOption) applyToWatch(w *watchConfig) { f(w) }

// Owners says which owners an event concerns. The zero value is none.
type Owners struct {
	// All is every owner that reads the object: all owners with [SeenByAll], those that name it with [ReferencedBy].
	All bool
	// Names are further owners. Names without an owner are ignored.
	Names []types.NamespacedName
}

// EnqueueFor narrows the owners whose plans run when an object is created (before is nil), changes, or is deleted (after is
// nil) to those that owners returns. Use it for a shared object that thousands of owners read and of which a change concerns
// few: the head of a queue. The function must be pure and must change neither object. An owner that isn't enqueued sees the
// change at its next pass. It takes the watched kind's Go type or client.Object. Default: each change concerns every owner
// that reads the object.
//
//	Watches(&corev1.Node{}, builder.SeenByAll(), builder.EnqueueFor(func(before, after *corev1.Node) builder.Owners {
//		return builder.Owners{All: before == nil || after == nil || !maps.Equal(before.Labels, after.Labels)}
//	}))
func EnqueueFor[K client.Object](owners func(before, after K) Owners) WatchOption {
	return watchOption(func(w *watchConfig) {
		if owners == nil {
			w.misused("EnqueueFor needs a function")
			return
		}
		if w.concerns != nil {
			w.misused("EnqueueFor is given twice")
		}
		takes[K](w, "EnqueueFor", w.like)
		w.concerns = func(before, after client.Object) Owners {
			b, _ := before.(K) // nil stays nil
			a, _ := after.(K)
			return owners(b, a)
		}
	})
}

// takes records an error if an option's function takes another type than that of the objects it is called with.
func takes[K client.Object](w *watchConfig, option string, obj client.Object) {
	if _, ok := obj.(K); !ok {
		w.misused("%s has a function of %s; it must be of %T", option, reflect.TypeFor[K](), obj)
	}
}

// checkWatches returns the sources that Watches and Dependents declare.
func (o *Operator[T]) checkWatches(owner kinds.Kind) ([]watch, error) {
	var watches []watch
	var errs []error
	for _, d := range o.dependents {
		s, err := d.check(o.engine, owner)
		if err != nil {
			errs = append(errs, fmt.Errorf("Owns: Dependents: %w", err))
			continue
		}
		watches = append(watches, watch{s, d.like, fromOwned})
	}
	shared := newReferenceThrottle(time.Now)
	for i, d := range o.watches {
		s, err := d.check(&watchConfig{
			engine: o.engine, owner: owner, anOwner: newOwner[T](), like: d.like, throttle: shared,
			index: fmt.Sprintf("armature.watch/%s/%d", o.name, i),
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("Watches: %w", err))
			continue
		}
		watches = append(watches, watch{s, d.like, fromWatched})
	}
	return watches, errors.Join(errs...)
}

// check returns the source that the options make.
func (d declaredWatch) check(w *watchConfig) (source, error) {
	k, err := w.engine.kinds.Of(d.like)
	if err != nil {
		return nil, err
	}
	if !w.engine.kinds.IsTyped(k, d.like) {
		return nil, fmt.Errorf("%w: %T of kind %s; it must be of the kind's own Go type", ErrMisuse, d.like, k.GVK.Kind)
	}
	w.kind = k
	for _, option := range d.options {
		if option == nil {
			return nil, fmt.Errorf("%w: an option of %T is nil", ErrMisuse, d.like)
		}
		option.applyToWatch(w)
	}
	switch {
	case len(w.errs) > 0:
		return nil, fmt.Errorf("%T: %w", d.like, errors.Join(w.errs...))
	case len(w.sources) != 1:
		return nil, fmt.Errorf("%w: %T has %d of ReferencedBy, Referencing and SeenByAll; give one of them", ErrMisuse, d.like, len(w.sources))
	case w.concerns != nil && w.mapped:
		return nil, fmt.Errorf("%w: %T has EnqueueFor beside Referencing, whose function names the owners already", ErrMisuse, d.like)
	}
	return w.sources[0](), nil
}

// queue is an operator's queue of requests.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// concerns says which owners an event concerns. Nil: all that read the object.
type concerns func(before, after client.Object) Owners

// handler returns a handler that enqueues the owners that an event concerns; all enqueues those that read the object.
// The objects that exist when the program starts enqueue no one: every owner has a pass then anyway.
func (c concerns) handler(all func(ctx context.Context, q queue, obj client.Object)) handler.EventHandler {
	enqueue := func(ctx context.Context, q queue, obj, before, after client.Object) {
		owners := Owners{All: true}
		if c != nil {
			owners = c(before, after)
		}
		if owners.All {
			all(ctx, q, obj)
		}
		for _, name := range owners.Names {
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
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() { // else the cache's own resync
				enqueue(ctx, q, e.ObjectNew, e.ObjectOld, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			enqueue(ctx, q, e.Object, e.Object, nil)
		},
	}
}

// listObjects returns the objects of a kind that keep accepts, as the cache has them. A nil keep accepts all.
func (e *Engine) listObjects(
	ctx context.Context, k kinds.Kind, keep func(client.Object) bool, among ...client.ListOption,
) ([]client.Object, error) {
	list, err := e.kinds.EmptyList(k)
	if err != nil {
		return nil, err
	}
	if err := e.client.List(ctx, list, append(among, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("list %s: %w", k.GVK.GroupKind(), err)
	}
	objs := make([]client.Object, 0, meta.LenList(list))
	err = meta.EachListItem(list, func(o runtime.Object) error {
		if obj, ok := o.(client.Object); ok && (keep == nil || keep(obj)) {
			objs = append(objs, obj)
		}
		return nil
	})
	return objs, err
}

// listOwners returns a request for each owner that a list has.
func (e *Engine) listOwners(ctx context.Context, owner kinds.Kind, among ...client.ListOption) ([]reconcile.Request, error) {
	owners, err := e.listObjects(ctx, owner, nil, among...)
	if err != nil {
		return nil, err
	}
	requests := make([]reconcile.Request, len(owners))
	for i, o := range owners {
		requests[i].NamespacedName = client.ObjectKeyFromObject(o)
	}
	return requests, nil
}

// mapped returns a MapFunc of a function that can fail. An error is logged: there is no one to return it to.
func mapped(k kinds.Kind, owners func(context.Context, client.Object) ([]reconcile.Request, error)) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		requests, err := owners(ctx, obj)
		if err != nil {
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
