package builder

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// maxRequests is the limit of concurrent requests in a pass.
const maxRequests = 32

// Options configure an Engine. The zero value is the default.
type Options struct {
	// Name is the controller's name: the field manager of the engine's writes, at most 128 characters. Default: "armature". Two
	// controllers that write to the same cluster need different names. After a change of the name the engine can't remove the fields that
	// it applied under the old one.
	Name string
	// Recorder receives events. Default: nil, no events.
	Recorder events.Recorder
	// Reader reads past the cache, as the reader of manager.GetAPIReader does. The builder reads with it: an object that exists and that
	// the cache doesn't show; a kind's children when none is desired any more (see [Builder.PruneAll] and [CrossNamespace]); children by
	// name (see [ByName]); revisions, records of [RunOnce], and the pods of a StatefulSet whose rollback is stuck; the records of packages
	// effects, undo and release; and the owner before the builder recreates missing children, because the cache may lag behind the
	// owner's deletion, or after its status was not found. Package rbac derives the permissions from an operator. Default: nil; the
	// builder then reads through the Engine's client and doesn't re-read owners.
	Reader client.Reader
}

// Engine applies the desired children of owners. A process has one Engine for each controller. It is safe for concurrent use.
type Engine struct {
	client      client.Client
	live        client.Reader
	readsLive   bool // live reads past the cache
	name        string
	recorder    events.Recorder
	parallelism int
	now         func() time.Time

	kinds     *kinds.Registry
	memory    *memory.Memory
	tracer    *telemetry.Tracer
	waiting   *telemetry.Sum // objects that owners wait for
	contested *telemetry.Sum // contested children

	byController   *sources.ByController
	crossNamespace *sources.CrossNamespace

	dry bool // writes are dry runs: see dryRun
}

// NewEngine returns an Engine on a client. The client should read from a cache that sees the engine's own writes: a manager's client
// with client.CacheOptions.EnableReadYourWritesConsistency. Other clients are correct as well; an uncached one costs a read for each
// child. The cache must keep metadata.managedFields.
func NewEngine(c client.Client, o Options) *Engine { return newEngine(c, o, nil, 0) }

// newEngine is NewEngine with a clock (nil: time.Now, whose differences stay right when the system's time is set) and a limit of concurrent
// requests (below 1: the default), which only tests set.
func newEngine(c client.Client, o Options, clock func() time.Time, parallelism int) *Engine {
	if clock == nil {
		clock = time.Now
	}
	if parallelism < 1 {
		parallelism = maxRequests
	}
	known := kinds.New(c, clock)
	c = sources.Bounded(c, known)
	readsLive := o.Reader != nil
	if !readsLive {
		o.Reader = c
	}
	o.Name = cmp.Or(o.Name, wellknown.FieldOwner)
	e := &Engine{
		client:      c,
		live:        o.Reader,
		readsLive:   readsLive,
		name:        o.Name,
		recorder:    o.Recorder,
		parallelism: parallelism,
		kinds:       known,
		now:         clock,
		memory:      memory.New(),
		waiting:     telemetry.NewWaiting(o.Name),
		tracer:      &telemetry.Tracer{Controller: o.Name, Summary: summarize},
		contested:   telemetry.NewContested(o.Name),
	}
	e.byController, e.crossNamespace = sources.NewByController(e.kinds, o.Name), sources.NewCrossNamespace(e.kinds, o.Name)
	e.client = telemetry.Client{Client: c, Controller: o.Name, Tracer: e.tracer}
	return e
}

// EngineFor returns an Engine on a manager's client, with an event recorder of the same name. Without read-your-writes consistency the
// engine reaches the same state with more requests. Unstructured puts unstructured children into the cache; otherwise each read of one
// is a request:
//
//	ctrl.Options{Client: client.Options{Cache: &client.CacheOptions{
//		EnableReadYourWritesConsistency: ptr.To(true),
//		Unstructured:                    true,
//	}}}
//
// A cache with a label filter must include the children. For a child that the filter hides, the first read after a write waits 10 seconds
// for the cache, and writes the child's name to the log. From then on, each read of the child costs a request, and no event of the child
// causes a pass. With a nil manager each call of the engine is [ErrMisuse].
func EngineFor(mgr manager.Manager, name string) *Engine {
	name = cmp.Or(name, wellknown.FieldOwner)
	if mgr == nil {
		return NewEngine(nil, Options{Name: name})
	}
	return NewEngine(mgr.GetClient(), Options{Name: name, Recorder: mgr.GetEventRecorder(name), Reader: mgr.GetAPIReader()})
}

// Index indexes a kind by the controller of its objects, so that a pass finds an owner's children without a scan; with
// [CrossNamespace] by the owner of cross-namespace children. Other options don't matter. Call it once for each kind, before the
// manager starts, with manager.GetFieldIndexer(). An [Operator] calls it for the kinds that it owns. Without an index a pass reads
// each child by name, and pruning lists the namespace.
func (e *Engine) Index(ctx context.Context, indexer client.FieldIndexer, kind client.Object, opts ...ChildOption) error {
	k, err := e.kinds.Of(kind)
	if err != nil {
		return err
	}
	if indexer == nil {
		return fmt.Errorf("%w: Index of %T: the indexer is nil; give that of manager.GetFieldIndexer()", ErrMisuse, kind)
	}
	if Want(kind, opts...).desired.CrossNamespace {
		return e.crossNamespace.Add(ctx, indexer, k, kind)
	}
	return e.byController.Add(ctx, indexer, k, kind)
}

// ownByName returns the reader of the kinds whose children are read by name. It makes the engine's client read these kinds from the
// API server.
func (e *Engine) ownByName(named []sources.NamedKind) *sources.ByName {
	live := sources.Reader{From: e.live, Kinds: e.kinds}
	if with, ok := e.client.(telemetry.Client); ok {
		with.Client = sources.Uncached(with.Client, live, named...)
		e.client = with
	}
	return sources.NewByName(live, e.now, named...)
}

// cached returns a reader of the cache, if the engine's client has a cache.
func (e *Engine) cached() sources.Reader { return sources.Reader{From: e.client, Kinds: e.kinds} }

// tracePass starts a span of a pass over an owner. The returned function ends it.
func (e *Engine) tracePass(ctx context.Context, owner client.Object) (context.Context, func(error)) {
	if !e.tracer.IsOn() || kinds.IsNil(owner) {
		return ctx, func(error) {}
	}
	key := store.Key{}
	if k, err := e.kinds.Of(owner); err == nil {
		key = k.Key(owner)
	}
	return e.tracer.Pass(ctx, key)
}

// Forget drops the engine's memory of a deleted owner. like is any object of the owner's kind. An [Operator] calls it; a reconciler of
// your own calls it when the owner isn't found, so that the metric armature_builder_objects_waiting no longer counts the owner's
// waiting objects.
func (e *Engine) Forget(like client.Object, owner types.NamespacedName) {
	if k, err := e.kinds.Of(like); err == nil {
		e.waiting.Forget(store.KeyOf(k.GVK, owner.Namespace, owner.Name))
		e.contested.Forget(store.KeyOf(k.GVK, owner.Namespace, owner.Name))
	}
}

// dryRun returns an engine whose writes are dry runs: the API server admits, defaults and validates them, and stores nothing. The
// engine emits no events, counts no metrics and remembers nothing.
func (e *Engine) dryRun() *Engine {
	dry := *e
	dry.dry = true
	dry.recorder = nil
	inner := e.client
	if counting, ok := inner.(telemetry.Client); ok {
		inner = counting.Client
	}
	dry.client = client.NewDryRunClient(sources.Unawaited(inner)) // no cache ever shows a dry run's writes
	return &dry
}

// inventoryOf returns the inventory of an owner, including the engine's own writes since the owner was read. The next write uses the
// resource version of the last one, so that the engine's own write causes no conflict; another writer's change does.
func (e *Engine) inventoryOf(owner client.Object) inventory.Inventory {
	if known, ok := e.memory.Inventories.Get(owner.GetUID()); ok && known.From == owner.GetResourceVersion() {
		return known.Inventory
	}
	return inventory.Of(owner)
}
