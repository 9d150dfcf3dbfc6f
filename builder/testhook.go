package builder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/testhook"
	"github.com/armature-dev/armature/events"
)

// What only tests need is not in the API of this package: package buildertest has it, and reaches it through package testhook.

func init() {
	testhook.NewEngine = func(c client.Client, options any, clock func() time.Time, parallelism int) any {
		return newEngine(c, options.(Options), clock, parallelism)
	}
	testhook.Reconciler = func(operator any, c client.Client, clock func() time.Time) (reconcile.Reconciler, error) {
		return operator.(testable).reconciler(c, clock)
	}
	testhook.Wakes = func(
		r reconcile.Reconciler, indexer client.FieldIndexer,
	) (func(context.Context, client.Object, client.Object) []reconcile.Request, error) {
		if hooked, ok := r.(waking); ok {
			return hooked.wakes, hooked.indexWatches(indexer)
		}
		return nil, nil
	}
	testhook.Plan = func(operator any, owner client.Object, observed any) (plan any, err error) {
		return operator.(testable).planFor(owner, observed.(View))
	}
}

// testable is an Operator of any type.
type testable interface {
	reconciler(c client.Client, clock func() time.Time) (reconcile.Reconciler, error)
	planFor(owner client.Object, observed View) (any, error)
}

// waking is a reconciler of any type.
type waking interface {
	wakes(ctx context.Context, before, after client.Object) []reconcile.Request
	indexWatches(indexer client.FieldIndexer) error
}

// reconciler returns the operator's reconciler with a client and a clock. See buildertest.NewReconciler.
func (o *Operator[T]) reconciler(c client.Client, clock func() time.Time) (reconcile.Reconciler, error) {
	alone := *o
	options := Options{Name: o.name}
	if past, ok := c.(interface{ Live() client.Reader }); ok {
		options.Reader = past.Live()
	}
	if emits, ok := c.(interface{ Recorder() events.Recorder }); ok {
		options.Recorder = emits.Recorder()
	}
	parallelism := 0
	if limited, ok := c.(interface{ RequestLimit() int }); ok {
		parallelism = limited.RequestLimit()
	}
	alone.engine = newEngine(c, options, clock, parallelism)
	recorder := flight.Of(c)
	if recorder != nil {
		alone.engine.noteRequests()
	}
	r, err := alone.newReconciler()
	if err != nil {
		return nil, fmt.Errorf("operator %s: %w", o.name, err)
	}
	r.recorder = recorder
	r.now, r.guard.Copies = clock, true
	if indexed, ok := c.(interface {
		client.FieldIndexer
		cache.Informers
	}); ok {
		r.guard.Copies = false // as in a manager, the cache shares its objects, and there may be many
		err = alone.index(context.Background(), indexed, r.watches)
	}
	return r, err
}

// planFor returns the operator's plan, a Plan[T], for an owner and a view. See buildertest.PlanFor.
func (o *Operator[T]) planFor(obj client.Object, observed View) (any, error) {
	if o.plan == nil {
		return Plan[T]{}, fmt.Errorf("operator %s: %w: there is no Plan", o.name, ErrMisuse)
	}
	owner, _ := obj.(T)
	if kinds.IsNil(owner) {
		return Plan[T]{}, fmt.Errorf("operator %s: %w: the owner is nil", o.name, ErrMisuse)
	}
	r := &reconciler[T]{plan: o.plan, effects: o.performers()}
	r.owned.Store(&ownedKinds{declared: o.declared()})
	r.guard.Copies = true
	observed.observed.Asked = &plancheck.Asked{Declared: r.owned.Load().declared}
	plan, err := r.makePlan(context.Background(), owner, observed)
	if err == nil {
		err = errors.Join(plancheck.CheckIdentities(owner, plan.checked()), checkPhases(plan.Rollout, plan.Children))
		if plan.RequeueAfter > 0 && plan.RequeueAfter < time.Microsecond {
			err = errors.Join(err, fmt.Errorf("%w: Plan.RequeueAfter is %s; a plain number counts nanoseconds: multiply it by time.Second",
				ErrMisuse, plan.RequeueAfter))
		}
	}
	if err != nil {
		return Plan[T]{}, err
	}
	return plan, nil
}
