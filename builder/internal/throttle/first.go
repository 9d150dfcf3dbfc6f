package throttle

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// AfterFirst returns a reconciler whose later passes over an owner are as urgent as those of others. controller-runtime gives a timer and a
// repetition the priority of the pass before: without this the deadlines of an owner that was unchanged at the start would be less urgent
// until an event of it.
func AfterFirst(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		res, err := r.Reconcile(ctx, req)
		if res.Priority == nil {
			res.Priority = &asUrgent
		}
		return res, err
	})
}

var asUrgent = 0 // read only
