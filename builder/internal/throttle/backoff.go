package throttle

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// maxBackoff bounds the backoff. With controller-runtime's bound, 1000 s, an owner would wait for a quarter of an hour after someone
// has raised its quota, because no watch reports that to the operator.
const maxBackoff = time.Minute

// NewBackoff returns the backoff of passes that fail: 5 ms, and twice as long each time, up to a minute.
func NewBackoff() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, maxBackoff)
}
