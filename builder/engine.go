package builder

import (
	"cmp"
	"time"

	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

const (
	// defaultParallelism is the default limit of concurrent requests in a pass.
	defaultParallelism = 32
)

// Options configure an Engine. The zero value is the default.
type Options struct {
	// Name is the controller's name: the field manager of the engine's writes, at most 128 characters. Default: "armature". Two
	// controllers that write to the same cluster need different names. After a change of the name the engine can't remove the fields that
	// it applied under the old one.
	Name string
	// Recorder receives events. Default: nil, no events.
	Recorder events.Recorder
	// Reader reads past the cache, as the reader of manager.GetAPIReader does. The builder uses it for three reads: of an object that
	// exists and that the cache doesn't show, of a kind's children when none is desired any more (see [Builder.PruneAll] and
	// [CrossNamespace]), and of the owner before it recreates missing children, because the cache may lag behind the owner's deletion.
	// The last one needs the permission to get owners. Default: nil; the builder then reads through the Engine's client and doesn't
	// re-read owners.
	Reader client.Reader
	// Parallelism is the maximum number of concurrent requests in a pass. Default, also for values below 1: 32.
	Parallelism int
	// TracerProvider receives OpenTelemetry spans: one for each pass, and in it one for each write. Default: nil, no spans.
	TracerProvider trace.TracerProvider
	// Clock returns the current time. Default: time.Now.
	Clock func() time.Time
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
func NewEngine(c client.Client, o Options) *Engine {
	if o.Parallelism < 1 {
		o.Parallelism = defaultParallelism
	}
	readsLive := o.Reader != nil
	if !readsLive {
		o.Reader = c
	}
	o.Name = cmp.Or(o.Name, wellknown.FieldOwner)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	e := &Engine{
		client:      c,
		live:        o.Reader,
		readsLive:   readsLive,
		name:        o.Name,
		recorder:    o.Recorder,
		parallelism: o.Parallelism,
		kinds:       kinds.New(c, o.Clock),
		now:         o.Clock,
		memory:      memory.New(),
		waiting:     telemetry.NewWaiting(o.Name),
		tracer:      &telemetry.Tracer{Controller: o.Name, Summary: summarize},
		contested:   telemetry.NewContested(o.Name),
	}
	e.byController, e.crossNamespace = sources.NewByController(e.kinds, o.Name), sources.NewCrossNamespace(e.kinds, o.Name)
	e.tracer.Use(o.TracerProvider)
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
// A cache with a label filter must include the children: each child that the filter hides costs a request.
func EngineFor(mgr manager.Manager, name string) *Engine {
	name = cmp.Or(name, wellknown.FieldOwner)
	return NewEngine(mgr.GetClient(), Options{Name: name, Recorder: mgr.GetEventRecorder(name), Reader: mgr.GetAPIReader()})
}
