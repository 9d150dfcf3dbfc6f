package testhook

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var (
	// NewEngine returns a *builder.Engine. options are builder.Options.
	NewEngine func(c client.Client, options any, clock func() time.Time, parallelism int) any
	// Reconciler returns the reconciler of a *builder.Operator.
	Reconciler func(operator any, c client.Client, clock func() time.Time) (reconcile.Reconciler, error)
	// Wakes returns the mapping of an operator's reconciler from an event (before is nil for a created object, after for a deleted one) to
	// requests, as in a manager. It registers the indexes that the mapping needs. Nil for other reconcilers.
	Wakes func(
		r reconcile.Reconciler, indexer client.FieldIndexer,
	) (func(ctx context.Context, before, after client.Object) []reconcile.Request, error)
	// Plan returns the checked builder.Plan of a *builder.Operator for a builder.View.
	Plan func(operator any, owner client.Object, observed any) (plan any, err error)
)
