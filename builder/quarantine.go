package builder

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/inflight"
)

// noteInFlight records a pass as in flight, or returns why the owner must wait. Without a record it does nothing.
func (r *reconciler[T]) noteInFlight(owner T) (inflight.Running, *inflight.Hold) {
	if r.inFlight == nil {
		return inflight.Running{}, nil
	}
	return r.inFlight.Begin(inflight.Pass{
		Controller: r.engine.name, Namespace: owner.GetNamespace(), Name: owner.GetName(), UID: string(owner.GetUID()),
	})
}

// quarantine reports on an owner that its pass is postponed, and until when.
func (r *reconciler[T]) quarantine(ctx context.Context, owner T, hold *inflight.Hold) (reconcile.Result, error) {
	after := max(hold.Until.Sub(r.now()), conflictDelay)
	if hold.Ends == 0 { // the owner only waits for another pass to end
		return reconcile.Result{RequeueAfter: after}, nil
	}
	log.FromContext(ctx).Info("postponed", "reason", hold.Error())
	r.engine.emitResult(owner, "", Result{}, hold)
	_, _, err := r.writeStatus(ctx, owner, Plan[T]{}, Result{}, hold, r.now())
	return r.next(ctx, after, err)
}
