package builder

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// ReferencedBy watches objects that an owner's spec names, in the owner's own namespace or cluster-scoped: a Secret, a
// template. names returns their names; empty ones are ignored. It takes the owner's type. [Lookup] returns one of the
// objects, [Watched] all. An event enqueues the owners that name the object, at once up to a thousand owners of a
// namespace, and a hundred a second beyond. [EnqueueFor] narrows them. The objects that exist when the program starts enqueue
// no one.
func ReferencedBy[T client.Object](names func(owner T) []string) WatchOption {
	return watchOption(func(w *watchConfig) {
		if names == nil {
			w.misused("ReferencedBy needs a function that returns names")
			return
		}
		takes[T](w, "ReferencedBy", w.anOwner)
		of := func(owner client.Object) []string { return names(owner.(T)) }
		w.sources = append(w.sources, func() source {
			return &referencedBy{w.engine, w.owner, w.kind, w.anOwner, of, w.index, w.concerns, w.throttle}
		})
	})
}

// referencedBy is the source of ReferencedBy.
type referencedBy struct {
	engine      *Engine
	owner, kind kinds.Kind
	anOwner     client.Object
	names       func(owner client.Object) []string
	field       string // the cache index of owners by the names in them
	concerns    concerns
	throttle    *referenceThrottle
}

func (s *referencedBy) index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, s.anOwner, s.field, s.names); err != nil {
		return fmt.Errorf("index owners by the names of %s: %w", s.kind.GVK.GroupKind(), err)
	}
	return nil
}

func (s *referencedBy) handler() handler.EventHandler {
	return s.handlerOf(mapped(s.kind, func(ctx context.Context, obj client.Object) ([]reconcile.Request, error) {
		// A cluster-scoped object is in no namespace: owners in all of them can name it.
		return s.engine.listOwners(ctx, s.owner, client.InNamespace(obj.GetNamespace()), client.MatchingFields{s.field: obj.GetName()})
	}))
}

// handlerOf returns a handler for a mapping of an object to the owners that name it.
func (s *referencedBy) handlerOf(owners handler.MapFunc) handler.EventHandler {
	return s.concerns.handler(func(ctx context.Context, q queue, obj client.Object) { s.throttle.add(q, owners(ctx, obj)) })
}

func (s *referencedBy) observe(ctx context.Context, p *pass) ([]client.Object, error) {
	var objs []client.Object
	for _, name := range sortedNames(s.names(p.owner)) {
		at, err := s.engine.nameIn(s.kind, p.owner.GetNamespace(), name)
		if err != nil {
			return nil, err
		}
		obj, err := s.engine.read(ctx, s.engine.client, s.kind, store.KeyOf(s.kind.GVK, at.Namespace, at.Name))
		if err != nil {
			return nil, err
		}
		if obj != nil {
			objs = append(objs, obj)
		}
	}
	return objs, nil
}

// sortedNames returns the names in order, each once, without the empty one.
func sortedNames(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

const (
	// throttleBurst is how many owners of a namespace events of referenced objects enqueue at once.
	throttleBurst = 1000
	// throttleInterval is the time between the owners beyond it.
	throttleInterval = 10 * time.Millisecond
)

// referenceThrottle delays the requests that an event of a shared object enqueues. Without it, anyone who may change a
// template that thousands of owners name causes thousands of passes with each request. An owner that already waits isn't
// enqueued again: its pass sees all changes until then.
type referenceThrottle struct {
	now func() time.Time

	mu    sync.Mutex
	taken map[string]time.Time            // namespace -> end of its reserved intervals
	due   map[reconcile.Request]time.Time // owners that wait
	swept time.Time
}

func newReferenceThrottle(now func() time.Time) *referenceThrottle {
	return &referenceThrottle{now: now, taken: map[string]time.Time{}, due: map[reconcile.Request]time.Time{}}
}

// add enqueues owners, those beyond the burst one after the other.
func (s *referenceThrottle) add(q queue, owners []reconcile.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.sweep(now)
	for _, r := range owners {
		if now.Before(s.due[r]) { // the queue's own timer ends no earlier
			continue
		}
		from := s.taken[r.Namespace]
		if from.Before(now) {
			from = now
		}
		s.taken[r.Namespace] = from.Add(throttleInterval)
		after := from.Sub(now) - throttleBurst*throttleInterval
		if after < 0 {
			q.Add(r)
			continue
		}
		after += throttleInterval
		s.due[r] = now.Add(after)
		q.AddAfter(r, after)
	}
}

// sweep removes entries whose time has passed.
func (s *referenceThrottle) sweep(now time.Time) {
	if now.Sub(s.swept) < time.Second && !now.Before(s.swept) {
		return
	}
	s.swept = now
	for namespace, until := range s.taken {
		if !now.Before(until) {
			delete(s.taken, namespace)
		}
	}
	for r, at := range s.due {
		if !now.Before(at) {
			delete(s.due, r)
		}
	}
}
