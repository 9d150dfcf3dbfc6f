package builder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/declared"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/builder/internal/testhook"
	"github.com/armature-dev/armature/events"
)

// What only other packages of Armature need is not in the API of this package. Package buildertest reaches it through package testhook,
// package record through package flight, and package rbac through package declared.

func init() {
	flight.PlanOf = func(plan any) flight.Plan { return plan.(interface{ recorded() flight.Plan }).recorded() }
	flight.Kinds = func(operator any) []client.Object {
		return operator.(interface{ kindsRead() []client.Object }).kindsRead()
	}
	testhook.NewEngine = func(c client.Client, options any, clock func() time.Time, parallelism int) any {
		return newEngine(c, options.(Options), clock, parallelism)
	}
	testhook.Reconciler = func(operator any, c client.Client, clock func() time.Time) (reconcile.Reconciler, error) {
		return operator.(testable).reconciler(c, clock)
	}
	testhook.WiringOf = func(r reconcile.Reconciler) (testhook.Wiring, bool) {
		if wired, ok := r.(interface{ wiring() testhook.Wiring }); ok {
			return wired.wiring(), true
		}
		return testhook.Wiring{}, false
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

// reconciler returns the operator's reconciler with a client and a clock. See buildertest.NewReconciler.
func (o *Operator[T]) reconciler(c client.Client, clock func() time.Time) (reconcile.Reconciler, error) {
	if o == nil {
		return nil, fmt.Errorf("%w: the operator is nil", ErrMisuse)
	}
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
	var recorder flight.Recorder
	if with, ok := c.(flight.Source); ok {
		recorder = with.FlightRecorder()
	}
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
	if o == nil {
		return Plan[T]{}, fmt.Errorf("%w: the operator is nil", ErrMisuse)
	}
	if o.plan == nil {
		return Plan[T]{}, fmt.Errorf("operator %s: %w: there is no Plan", o.name, ErrMisuse)
	}
	owner, _ := obj.(T)
	if kinds.IsNil(owner) {
		return Plan[T]{}, fmt.Errorf("operator %s: %w: the owner is nil", o.name, ErrMisuse)
	}
	r := &reconciler[T]{plan: o.plan, effects: o.performers()}
	r.guard.Copies = true
	observed.observed.Asked = &plancheck.Asked{Declared: o.declared()}
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

// wiring returns what Complete gives to the manager, for an exploration without a manager.
func (r *reconciler[T]) wiring() testhook.Wiring {
	w := testhook.Wiring{
		Owner: r.owner.GVK.GroupKind(), AnOwner: newOwner[T](), CrossNamespace: r.crossNamespace,
		Owned: func() []kinds.Kind { return r.owned.Load().kinds },
	}
	for _, of := range r.watches {
		if k, err := r.engine.kinds.Of(of.like); err == nil { // newReconciler has found it, too
			w.Sources = append(w.Sources, testhook.Source{Source: of.Source, Kind: k.GVK.GroupKind(), IsIndexed: of.from == plancheck.Owned})
		}
	}
	return w
}

// noteRequests makes the engine note the requests of recorded passes.
func (e *Engine) noteRequests() {
	if counting, ok := e.client.(telemetry.Client); ok {
		counting.Client = flight.Client{Client: counting.Client}
		e.client = counting
	}
	e.live = flight.Reader{Reader: e.live}
}

// recordPass hands a pass that wrote or failed to the flight recorder.
func (r *reconciler[T]) recordPass(p *operatorPass[T]) {
	requests := p.requests.All()
	if p.err == nil && !flight.Wrote(requests) {
		return
	}
	record := flight.Pass{
		Operator: r.engine.name, Scheme: r.engine.client.Scheme(),
		Owner: p.owner, Now: p.view.Now, Observed: p.view.observed,
		Result: p.result, Err: p.err, Requests: requests,
	}
	if p.plan != nil && !p.unplanned {
		record.Plan, record.PlanErr = new(p.plan.recorded()), p.planErr
	}
	r.recorder.RecordPass(record)
}

// recorded returns the parts of the plan that a record has.
func (plan Plan[T]) recorded() flight.Plan {
	r := flight.Plan{
		Prune: plan.Prune, PruneAll: plan.PruneAll, Delete: plan.Delete, Rollout: plan.Rollout,
		StatusCanWait: plan.StatusCanWait, Report: plan.Report, WaitingFor: plan.WaitingFor, HasFinish: plan.Finish != nil,
		Events: plan.Events, DeleteOwner: plan.DeleteOwner, RequeueAfter: plan.RequeueAfter,
	}
	for _, c := range plan.Children {
		r.Children = append(r.Children, flight.Child{Child: c.desired, Run: c.run})
	}
	for _, e := range plan.Edits {
		r.Edits = append(r.Edits, flight.Edit{Before: e.Before, After: e.After, Replicas: e.Replicas, Foreign: e.Foreign})
	}
	if !kinds.IsNil(plan.Status) {
		r.Status = plan.Status
	}
	return r
}

// kindsRead returns empty objects of the kinds that the plan reads.
func (o *Operator[T]) kindsRead() []client.Object {
	var all []client.Object
	for _, owned := range o.owned {
		all = append(append(all, owned.like), owned.dependents...)
	}
	for _, w := range o.watches {
		all = append(all, w.like)
	}
	return all
}

// declaration returns the operator's description for package rbac, which derives the operator's role from it.
func (o *Operator[T]) declaration() declared.Operator {
	d := declared.Operator{Name: o.name, Owner: newOwner[T](), Plan: o.planned, Undo: o.former != nil, Effects: o.performers() != nil}
	for _, owned := range o.owned {
		d.Owns = append(d.Owns, declared.Owned{
			Kind: owned.like, CrossNamespace: owned.crossNamespace, ByName: owned.names != nil, Dependents: owned.dependents,
		})
	}
	for _, w := range o.watches {
		d.Watches = append(d.Watches, w.like)
	}
	return d
}

// planned calls the plan for an owner without children.
func (o *Operator[T]) planned(owner client.Object) (declared.Plan, error) {
	got, err := o.planFor(owner, View{Now: o.engine.now().UTC()})
	if err != nil {
		return declared.Plan{}, fmt.Errorf("%T %s: %w", owner, client.ObjectKeyFromObject(owner), err)
	}
	plan := got.(Plan[T])
	_, conditioned := owner.(Conditioned)
	d := declared.Plan{
		Prune: plan.Prune, PruneAll: plan.PruneAll, DeleteOwner: plan.DeleteOwner, Phases: len(plan.Rollout.Phases) > 0,
		Reports: conditioned || !kinds.IsNil(plan.Status),
	}
	for _, c := range plan.Children {
		options := c.desired.Options
		d.Children = append(d.Children, declared.Child{
			Object: c.desired.Object, Recreate: options != nil && options.Recreate != nil,
		})
	}
	return d, nil
}
