package throttle

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// maxBackoff bounds the backoff. With controller-runtime's bound, 1000 s, an owner would wait for a quarter of an hour after someone
// has raised its quota, because no watch reports that to the operator.
const maxBackoff = time.Minute

// Backoff is the backoff of passes that fail: 5 ms, and twice as long each time, up to a minute. It is safe for concurrent use.
type Backoff struct {
	workqueue.TypedRateLimiter[reconcile.Request]

	mu        sync.Mutex
	postponed map[reconcile.Request]struct{}
}

// NewBackoff returns a Backoff without failures.
func NewBackoff() *Backoff {
	return &Backoff{
		TypedRateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, maxBackoff),
		postponed:        map[reconcile.Request]struct{}{},
	}
}

// Postpone notes that a pass was postponed before it could fail. controller-runtime takes it for one that has succeeded, and forgets the
// failures before it: owners that fail and have to wait for each other would be tried again without end, every few milliseconds.
func (b *Backoff) Postpone(r reconcile.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.postponed[r] = struct{}{}
}

// Forget forgets the failures of a request, unless its last pass was postponed.
func (b *Backoff) Forget(r reconcile.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, is := b.postponed[r]; is {
		delete(b.postponed, r)
		return
	}
	b.TypedRateLimiter.Forget(r)
}
