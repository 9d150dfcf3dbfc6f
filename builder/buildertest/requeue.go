package buildertest

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// rateLimited are the delays of a pass with Requeue, by the number of idle clock steps before. The last one is the longest of
// controller-runtime's default rate limiter.
var rateLimited = [idleSteps]time.Duration{time.Second, time.Minute, 1000 * time.Second}

// requeueAfter returns when a pass without an error is to be repeated; 0 only after an event.
func requeueAfter(r reconcile.Result, idle int) time.Duration {
	if r.RequeueAfter <= 0 && r.Requeue { //nolint:staticcheck // controller-runtime still does what deprecated fields say
		return rateLimited[min(idle, idleSteps-1)]
	}
	return r.RequeueAfter
}
