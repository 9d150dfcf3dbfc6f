package sources

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// throttleBurst is the number of owners in a namespace that events of referenced objects enqueue at once.
	throttleBurst = 1000
	// throttleInterval is the time between further owners.
	throttleInterval = 10 * time.Millisecond
)

// Throttle delays the requests that an event of a shared object enqueues. Without it, anyone who may change a template that thousands
// of owners name causes thousands of passes with each change. A waiting owner isn't enqueued again, because its pass observes all
// changes until then. It waits here and not in the queue, because the queue doesn't report whether a request still waits.
type Throttle struct {
	mu      sync.Mutex
	taken   map[string]time.Time // namespace -> end of its reserved intervals
	waiting map[reconcile.Request]bool
	swept   time.Time
}

// NewThrottle returns a Throttle without waiting owners.
func NewThrottle() *Throttle {
	return &Throttle{taken: map[string]time.Time{}, waiting: map[reconcile.Request]bool{}}
}

// add enqueues owners; those beyond the burst get increasing delays.
func (t *Throttle) add(q queue, owners []reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.sweep(now)
	for _, r := range owners {
		if t.waiting[r] {
			continue
		}
		from := t.taken[r.Namespace]
		if from.Before(now) {
			from = now
		}
		t.taken[r.Namespace] = from.Add(throttleInterval)
		after := from.Sub(now) - throttleBurst*throttleInterval
		if after < 0 {
			q.Add(r)
			continue
		}
		t.waiting[r] = true
		time.AfterFunc(after+throttleInterval, func() { t.release(q, r) })
	}
}

// release enqueues a waiting owner. From then on a change enqueues it again.
func (t *Throttle) release(q queue, r reconcile.Request) {
	t.mu.Lock()
	delete(t.waiting, r)
	t.mu.Unlock()
	q.Add(r)
}

// sweep removes namespaces whose reserved time has passed.
func (t *Throttle) sweep(now time.Time) {
	if now.Sub(t.swept) < time.Second && !now.Before(t.swept) {
		return
	}
	t.swept = now
	for namespace, until := range t.taken {
		if !now.Before(until) {
			delete(t.taken, namespace)
		}
	}
}
