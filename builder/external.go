package builder

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// External sets a function that observes the state of something outside the cluster, a metric or an endpoint, before each
// plan, which reads the result with the function [External]: so the plan stays pure. The function runs in the operator's
// worker, which does nothing else until it returns. It must end with its context, set a time limit of its own, and cache
// results, because passes are frequent. It must change neither the owner nor the objects of the View. It isn't called for an
// owner that is being deleted. An error fails the pass before the plan; what a plan should report, such as an endpoint that
// is down, belongs in the result. Default: none. The last of several calls counts.
func (o *Operator[T]) External(observe func(ctx context.Context, owner T, observed View) (any, error)) *Operator[T] {
	o.external = observe
	return o
}

// observeExternal puts the external state into the View.
func (l *loop[T]) observeExternal(ctx context.Context, owner T, v *View) (err error) {
	if l.external != nil && client.Object(owner).GetDeletionTimestamp() == nil {
		v.observed.External, err = l.external(ctx, owner, *v)
	}
	return err
}
