package builder

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// maxRetryDelay bounds the backoff. Controller-runtime's bound, 1000 s, would let an owner wait for a quarter of an hour after
// someone has made room in its quota: nothing tells the operator of that.
const maxRetryDelay = time.Minute

// patientRetries is the backoff of passes that fail: 5 ms, and twice as long each time.
func patientRetries() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, maxRetryDelay)
}
