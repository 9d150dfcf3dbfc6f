package builder

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// untilStop returns a reconciler whose passes don't fail because the manager stops. controller-runtime logs and counts each error, and
// nothing has failed: the next process has another pass over the owner.
func untilStop(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		res, err := r.Reconcile(ctx, req)
		if err != nil && errors.Is(ctx.Err(), context.Canceled) {
			log.FromContext(ctx).V(1).Info("stopped", "err", err.Error())
			return reconcile.Result{}, nil
		}
		return res, err
	})
}
