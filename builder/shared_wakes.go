package builder

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// sharedWakesAtOnce is how many owners of a namespace changes of what they refer to wake at once; those beyond it wait
	sharedWakesAtOnce = 1000
	// sharedWakeEvery for each other.
	sharedWakeEvery = 10 * time.Millisecond
)

// sharedWakes throttles the passes that a change of one object causes because many owners refer to it. Else whoever may
// change a template that thousands of owners name causes thousands of passes with each request. An owner that waits for its
// turn isn't given another one: its pass sees all that has changed until then.
type sharedWakes struct {
	now func() time.Time

	mu    sync.Mutex
	taken map[string]time.Time            // namespace -> until when its turns are taken
	due   map[reconcile.Request]time.Time // owners that wait for their turn
	swept time.Time
}

func newSharedWakes(now func() time.Time) *sharedWakes {
	return &sharedWakes{now: now, taken: map[string]time.Time{}, due: map[reconcile.Request]time.Time{}}
}

// add puts owners into a queue, each when it is its turn.
func (s *sharedWakes) add(q workqueue.TypedRateLimitingInterface[reconcile.Request], owners []reconcile.Request) {
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
		s.taken[r.Namespace] = from.Add(sharedWakeEvery)
		after := from.Sub(now) - sharedWakesAtOnce*sharedWakeEvery
		if after < 0 {
			q.Add(r)
			continue
		}
		after += sharedWakeEvery
		s.due[r] = now.Add(after)
		q.AddAfter(r, after)
	}
}

// sweep forgets what is over.
func (s *sharedWakes) sweep(now time.Time) {
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

// wakerOfReferred returns whom a change of a referred kind concerns: all owners that name the object, unless the operator
// narrows that down.
func (o *Operator[T]) wakerOfReferred(kind client.Object) wake {
	if w, ok := o.wakerOf(kind); ok {
		return w
	}
	return wake{like: kind, which: func(client.Object, client.Object) Owners { return Owners{All: true} }}
}

// throttled returns the handler of events of a referred kind.
func (s *sharedWakes) throttled(w wake, all handler.MapFunc) handler.EventHandler {
	return w.handlerOf(func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request], obj client.Object) {
		s.add(q, all(ctx, obj))
	})
}
