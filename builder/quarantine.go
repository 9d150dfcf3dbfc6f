package builder

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/inflight"
)

// quarantined is the error of an owner whose passes are suspended by the quarantine.
type quarantined struct{ *inflight.Hold }

func (q quarantined) Error() string {
	times := "once"
	if q.Ends > 1 {
		times = fmt.Sprintf("%d times", q.Ends)
	}
	return fmt.Sprintf("the manager ended unexpectedly %s while it worked on this object, last before %s; it is tried again at %s. "+
		"If it happens again, make the object smaller or delete it, or give the manager more memory",
		times, q.Last.UTC().Format(time.RFC3339), q.Until.UTC().Format(time.RFC3339))
}

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
	why := quarantined{hold}
	log.FromContext(ctx).Info("postponed", "reason", why.Error())
	r.engine.emitResult(owner, "", Result{}, why)
	_, _, err := r.writeStatus(ctx, owner, Plan[T]{}, Result{}, why, r.now())
	return r.next(ctx, after, err)
}
