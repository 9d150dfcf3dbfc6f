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
	// defaultParallelism is how many requests one pass has under way at most.
	defaultParallelism = 32
)

// Options configure an Engine. The zero value is the default.
type Options struct {
	// Name is the controller's name: the field owner of what it applies, at most 128 characters.
	// Default: "armature". Two controllers that write to the same cluster need different names; one that is renamed
	// can no longer remove the fields that it applied under its old name.
	Name string
	// Recorder receives events. Nil: none are emitted.
	Recorder events.Recorder
	// Reader reads past the cache: what manager.GetAPIReader returns. It is used when an object turns out to exist that
	// the cache doesn't show, to look once for children of a kind of which nothing is desired any more (see
	// Builder.PruneAll and CrossNamespace), and to ask for an owner before children of its that have gone are made again: it may
	// be gone, too, and the cache not know it yet. That takes the permission to get owners. Nil: the Engine's client, and
	// owners are not asked for.
	Reader client.Reader
	// Parallelism bounds the requests that one pass has under way at a time. Default, also for less than 1:
	// 32.
	Parallelism int
	// TracerProvider receives OpenTelemetry spans: one a pass, and in it one a write. Nil, the default: none are made.
	TracerProvider trace.TracerProvider
	// Clock tells the time, for what is timed. Default: time.Now.
	Clock func() time.Time
}

// Engine applies the desired children of owners. A process has one for each controller. It is safe for concurrent use.
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

	dry bool // writes are tried, not made: see dryRun
}

// NewEngine returns an Engine on a client. Reads should be served from a cache that sees the engine's own writes:
// a manager's client with client.CacheOptions.EnableReadYourWritesConsistency. Any client is correct; an uncached
// one costs a read for each child. The cache must keep metadata.managedFields.
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

// EngineFor returns an Engine on a manager's client, with an event recorder of the same name. Without read-your-writes consistency
// everything ends the same way, with more requests; Unstructured is for unstructured children, which are read past the cache otherwise:
//
//	ctrl.Options{Client: client.Options{Cache: &client.CacheOptions{
//		EnableReadYourWritesConsistency: ptr.To(true),
//		Unstructured:                    true,
//	}}}
//
// A cache that is filtered by labels must let the children through: the API server is asked about each child that the cache hides.
func EngineFor(mgr manager.Manager, name string) *Engine {
	name = cmp.Or(name, wellknown.FieldOwner)
	return NewEngine(mgr.GetClient(), Options{Name: name, Recorder: mgr.GetEventRecorder(name), Reader: mgr.GetAPIReader()})
}
