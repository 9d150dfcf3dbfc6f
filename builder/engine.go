package builder

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/events"
)

const (
	// DefaultName is the field owner of an Engine that was given no name.
	DefaultName = "armature"
	// DefaultParallelism is how many requests one pass has under way at most.
	DefaultParallelism = 32
	// memoSize bounds what an Engine remembers: one entry of some 100 bytes a child. A forgotten child is
	// compared field by field once more; nothing is written for it.
	memoSize = 1 << 17
)

// Options configure an Engine. The zero value is the default.
type Options struct {
	// Name is the controller's name: the field owner of what it applies and the reporter of its metrics.
	// Default: DefaultName. Two controllers that write to the same cluster need different names.
	Name string
	// Recorder receives events. Nil: none are emitted.
	Recorder events.Recorder
	// Parallelism bounds the requests that one pass has under way at a time. Default: DefaultParallelism.
	Parallelism int
}

// Engine applies what owners want. There is one a process and controller; it is safe for concurrent use.
type Engine struct {
	client      client.Client
	name        string
	recorder    events.Recorder
	parallelism int

	memo     *lru.Cache // types.UID of a child -> memoEntry
	reported *lru.Cache // types.UID of an owner -> the failure that was last emitted as an event

	mu      sync.RWMutex
	indexed map[schema.GroupVersionKind]bool
}

// NewEngine returns an Engine on a client. Reads should be served from a cache that sees the engine's own writes:
// a manager's client with client.CacheOptions.EnableReadYourWritesConsistency. Any client is correct; an uncached
// one costs a read for each child.
func NewEngine(c client.Client, o Options) *Engine {
	e := &Engine{
		client:      c,
		name:        cmp.Or(o.Name, DefaultName),
		recorder:    o.Recorder,
		parallelism: cmp.Or(o.Parallelism, DefaultParallelism),
		memo:        lru.New(memoSize),
		reported:    lru.New(memoSize),
		indexed:     map[schema.GroupVersionKind]bool{},
	}
	return e
}

// EngineFor returns an Engine on a manager's client, with an event recorder of the same name.
func EngineFor(mgr manager.Manager, name string) *Engine {
	return NewEngine(mgr.GetClient(), Options{Name: name, Recorder: mgr.GetEventRecorder(name)})
}

// IndexOwned indexes kinds by their controller, so that an owner's children are found without looking at others'.
// Call it once for each kind, before the manager starts; an Operator does so for what it Owns. Without an index a pass
// reads each child by name, and pruning lists the namespace.
func (e *Engine) IndexOwned(ctx context.Context, indexer client.FieldIndexer, kinds ...client.Object) error {
	for _, kind := range kinds {
		gvk, err := apiutil.GVKForObject(kind, e.client.Scheme())
		if err != nil {
			return err
		}
		if err := indexer.IndexField(ctx, kind, e.ownerIndex(), controllerUIDs); err != nil {
			return fmt.Errorf("index %s by controller: %w", gvk.Kind, err)
		}
		e.mu.Lock()
		e.indexed[gvk] = true
		e.mu.Unlock()
	}
	return nil
}

// ownerIndex is the index's name. It has the engine's name in it, since two controllers may own the same kind.
func (e *Engine) ownerIndex() string { return "armature.controllerUID/" + e.name }

// controllerUIDs is the index's value: the UID of the controller.
func controllerUIDs(o client.Object) []string {
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return []string{string(ref.UID)}
	}
	return nil
}

func (e *Engine) isIndexed(gvk schema.GroupVersionKind) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.indexed[gvk]
}

// memoEntry remembers that a child at a resource version is as a digest wants it: the server has said so.
type memoEntry struct {
	resourceVersion string
	digest          string
}

func (e *Engine) remember(child client.Object, digest string) {
	e.memo.Add(child.GetUID(), memoEntry{child.GetResourceVersion(), digest})
}

func (e *Engine) remembers(child client.Object, digest string) bool {
	entry, ok := e.memo.Get(child.GetUID())
	return ok && entry == memoEntry{child.GetResourceVersion(), digest}
}

// emit writes an event about an owner.
func (e *Engine) emit(owner client.Object, ev events.Event) {
	events.Emit(e.recorder, owner, ev)
}

// emitFailure writes a failure's event once, until another failure or success comes.
func (e *Engine) emitFailure(owner client.Object, ev events.Event) {
	if last, ok := e.reported.Get(owner.GetUID()); ok && last == ev.Reason+ev.Note {
		return
	}
	e.reported.Add(owner.GetUID(), ev.Reason+ev.Note)
	e.emit(owner, ev)
}

// forgetFailure lets the same failure be told again, after a pass that went well.
func (e *Engine) forgetFailure(owner types.UID) { e.reported.Remove(owner) }
