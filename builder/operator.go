package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/declared"
	"github.com/armature-dev/armature/builder/internal/fairshare"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/throttle"
	"github.com/armature-dev/armature/builder/internal/turns"
)

// Operator runs a plan. It reads the owner and observes its [View], calls the plan, applies its result, and writes the status. T is a
// pointer to the owner's type, such as *v1alpha1.JobFlow.
type Operator[T client.Object] struct {
	mgr     manager.Manager
	name    string
	engine  *Engine
	plan    PlanFunc[T]
	options controller.Options

	owned    []owns
	watches  []declaredWatch
	external func(context.Context, T, View) (any, error) // nil: none

	inFlight *inflight.Record // of the manager's quarantine; nil: none
	former   *former.Settings // of the manager's former states for an undo; nil: none are kept
	turns    *turns.Settings  // of the manager's roll-out of new builds; nil: none

	completed *completed[T] // nil before Complete
}

// NewOperator starts the description of an operator. Its name is unique in the manager, and has at most 128 characters. It is the name of
// the controller, the field manager of its children, and the reporter of its events.
//
// The field manager proves which fields, retained children and [CrossNamespace] children are the operator's. So to rename an operator, give
// its children [Adopt] with the old name among FormerManagers, until every owner has had a pass. Without it removed fields stay, with the
// event [events.ReasonFieldsLeft], and children with [Retain] or CrossNamespace are [ErrNotOwned].
//
//	err := builder.NewOperator[*v1alpha1.JobFlow](mgr, "jobflow").
//		Owns(&batchv1.Job{}).
//		Plan(jobflow.Plan).
//		Complete()
//
// Without a manager (nil) an operator can't be completed, but a test can use it: see package buildertest.
func NewOperator[T client.Object](mgr manager.Manager, name string) *Operator[T] {
	o := &Operator[T]{mgr: mgr, name: name}
	if mgr != nil {
		o.engine = EngineFor(mgr, name)
	}
	if with, ok := featureOf[interface{ PassesInFlight() *inflight.Record }](mgr); ok { // see package quarantine
		o.inFlight = with.PassesInFlight()
	}
	if with, ok := featureOf[interface{ Turns() *turns.Settings }](mgr); ok { // see package release
		o.turns = with.Turns()
	}
	if with, ok := featureOf[interface{ Former() *former.Settings }](mgr); ok { // see package undo
		o.former = with.Former()
	}
	return o
}

// featureOf returns a feature that packages such as quarantine give to a manager: that of the manager, or of one that it wraps.
func featureOf[F any](mgr manager.Manager) (feature F, ok bool) {
	for mgr != nil {
		if feature, ok = mgr.(F); ok {
			return feature, true
		}
		wrapping, wraps := mgr.(interface{ Unwrap() manager.Manager })
		if !wraps {
			break
		}
		mgr = wrapping.Unwrap()
	}
	return feature, false
}

// Owns declares a kind of children. An event of a child runs its owner's plan, and [Owned] returns the child. With [Dependents] the
// operator also watches the objects that the children control; with [ByName] it reads the children by name and doesn't watch them;
// with [CrossNamespace] they are outside the owner's namespace. A plan whose Children or Prune have an undeclared kind is [ErrMisuse],
// because the operator would never observe changes of its objects.
func (o *Operator[T]) Owns(kind client.Object, options ...OwnsOption) *Operator[T] {
	owned := owns{like: kind, owner: reflect.TypeFor[T]()}
	for _, option := range options {
		if option == nil {
			owned.misused("an option of %T is nil", kind)
			continue
		}
		option.applyToOwns(&owned)
	}
	o.owned = append(o.owned, owned)
	return o
}

// External sets a function that observes the state of something outside the cluster, such as a metric or an endpoint, before each plan. The
// plan reads the result with the function [External], and so stays pure. The function blocks the operator's worker until it returns. It
// must return one type, end with its context, set its own time limit, and cache results, because passes are frequent. If the plan that
// follows must wait for CPU, the builder keeps the result for it, for at most a minute and while the owner is unchanged. So the result may
// be a minute older than View.Now of its plan, and should have times instead of ages. The function must change neither the owner nor the
// objects of the View. The builder doesn't call it for a terminating owner. Its error or panic ends the pass before the plan; the builder
// reports it in an event and, of an owner that is [Conditioned], in the condition Ready, with the reason
// [events.ReasonObservationFailed], and tries again with backoff. A fact for the plan to report, such as an endpoint that is down, belongs
// in the result. Default: none. A later call replaces an earlier one.
func (o *Operator[T]) External(observe func(ctx context.Context, owner T, observed View) (any, error)) *Operator[T] {
	o.external = observe
	return o
}

// Plan sets the operator's plan. It is required.
func (o *Operator[T]) Plan(plan PlanFunc[T]) *Operator[T] {
	o.plan = plan
	return o
}

// WithOptions sets the controller's options. Default: those of controller-runtime (one pass at a time), except the backoff and the
// queue. The backoff is from 5 ms to 1 minute, because a person may wait for the end of a failure, such as an exceeded quota. The
// queue serves the namespaces in turn: thousands of owners in one namespace delay those of another by at most one pass each. NewQueue
// sets another queue.
func (o *Operator[T]) WithOptions(options controller.Options) *Operator[T] {
	o.options = options
	return o
}

// Complete adds the operator to its manager, before the manager starts. It returns all errors of the description, joined, as
// [ErrMisuse].
func (o *Operator[T]) Complete() error {
	if err := o.add(); err != nil {
		return fmt.Errorf("operator %s: %w", o.name, err)
	}
	return nil
}

func (o *Operator[T]) add() error {
	if o.mgr == nil {
		return fmt.Errorf("%w: there is no manager", ErrMisuse)
	}
	r, err := o.newReconciler()
	if err != nil {
		return err
	}
	if with, ok := featureOf[declared.Collector](o.mgr); ok { // see package rbac
		with.Declare(o.declaration())
		return nil
	}
	options := o.options
	if options.RateLimiter == nil {
		r.backoff = throttle.NewBackoff()
		options.RateLimiter = r.backoff
	}
	if options.NewQueue == nil {
		options.NewQueue = throttle.NewQueue
	}
	ctx := context.Background() // nothing blocks before the manager starts
	// A process that doesn't lead starts no controller. It must fill the owners' cache, too, to be ready to lead. While the API server
	// doesn't know the kind, such as in the moment after its CRD is installed, there is none; the controller waits for it and reports it.
	_, _ = o.mgr.GetCache().GetInformer(ctx, newOwner[T](), cache.BlockUntilSynced(false))
	if err := o.index(ctx, o.mgr.GetFieldIndexer(), r.watches); err != nil {
		return err
	}
	b := builder.ControllerManagedBy(o.mgr).
		Named(o.name).
		For(newOwner[T](), builder.WithPredicates(sources.OwnerChanged)).
		WithOptions(options)
	for _, owned := range o.owned {
		switch {
		case owned.crossNamespace:
			b = b.Watches(owned.like, handler.EnqueueRequestsFromMapFunc(sources.CrossNamespaceOwner(r.owner.GVK.GroupKind())))
		case owned.names == nil:
			b = b.Owns(owned.like)
		}
	}
	for _, w := range r.watches {
		if err := w.Index(ctx, o.mgr.GetFieldIndexer()); err != nil {
			return err
		}
		b = b.Watches(w.like, w.Handler())
	}
	r.throttle, r.limiter = throttle.NewPasses(), limiter
	c, err := b.Build(throttle.AfterFirst(untilStop(r)))
	o.completed = &completed[T]{controller: c, reconciler: r, watched: sets.Set[kinds.Kind]{}}
	if with, ok := featureOf[previews](o.mgr); ok { // see package preview
		with.AddOperator(o.name, newOwner[T](), o.Diff)
	}
	return err
}

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

// previews is a manager that asks operators what they would do, and runs none.
type previews interface {
	AddOperator(name string, owner client.Object, diff func(context.Context, types.NamespacedName) (Result, error))
}

// limiter gives each namespace its fair share of the CPUs. All operators of a process use the same one.
var limiter = fairshare.New(runtime.GOMAXPROCS(0))

// index indexes children, and the objects that they control, by their owner.
func (o *Operator[T]) index(ctx context.Context, indexer client.FieldIndexer, watches []watch) error {
	for _, owned := range o.owned {
		var err error
		switch {
		case owned.crossNamespace:
			err = o.engine.Index(ctx, indexer, owned.like, CrossNamespace())
		case owned.names == nil:
			err = o.engine.Index(ctx, indexer, owned.like)
		}
		if err != nil {
			return err
		}
	}
	for _, w := range watches {
		if w.from != plancheck.Owned {
			continue
		}
		if err := w.Index(ctx, indexer); err != nil {
			return err
		}
	}
	return nil
}

// newReconciler checks the description and returns its reconciler.
func (o *Operator[T]) newReconciler() (*reconciler[T], error) {
	r := &reconciler[T]{
		engine: o.engine, plan: o.plan, now: time.Now, cpuTime: fairshare.CPUTime, statusWrites: throttle.NewStatuses(), inFlight: o.inFlight,
	}
	owned := &ownedKinds{declared: o.declared()}
	r.owned.Store(owned)
	var errs []error
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: the owner's type is %s; it must be a pointer to a struct, such as *v1.Deployment", ErrMisuse, t)
	}
	if o.name == "" {
		errs = append(errs, fmt.Errorf("%w: the operator has no name, which is the field manager of its children", ErrMisuse))
	}
	if invalid := validation.ValidateFieldManager(o.name, field.NewPath("name")); len(invalid) > 0 {
		errs = append(errs, fmt.Errorf("%w: the operator's name is the field manager of its children: %w", ErrMisuse, invalid.ToAggregate()))
	}
	var err error
	if r.owner, err = o.engine.kinds.Of(newOwner[T]()); err != nil {
		errs = append(errs, fmt.Errorf("owner: %w", err))
	}
	if o.plan == nil {
		errs = append(errs, fmt.Errorf("%w: there is no Plan", ErrMisuse))
	}
	var named []sources.NamedKind
	for _, declared := range o.owned {
		k, err := declared.check(o.engine.kinds)
		if err != nil {
			errs = append(errs, fmt.Errorf("Owns: %w", err))
		}
		switch {
		case declared.crossNamespace:
			r.crossNamespace = append(r.crossNamespace, k)
		case declared.names != nil:
			named = append(named, sources.NamedKind{Kind: k, Names: declared.names[0]})
		default:
			owned.kinds = append(owned.kinds, k)
		}
	}
	if with, ok := featureOf[flight.Source](o.mgr); ok { // see package record
		r.recorder = with.FlightRecorder()
		o.engine.noteRequests()
	}
	if named != nil {
		r.byName = o.engine.ownByName(named)
	}
	watches, err := o.checkWatches(r.owner)
	r.watches, r.external, r.turns = watches, o.external, o.releases(r)
	r.former, r.effects = o.former, o.performers()
	return r, errors.Join(append(errs, err)...)
}

// declared returns the kinds that the operator declares.
func (o *Operator[T]) declared() *plancheck.Declared {
	d := &plancheck.Declared{}
	for _, owned := range o.owned {
		d.Owns(owned.like, owned.crossNamespace)
		for _, like := range owned.dependents {
			d.Dependents(like)
		}
	}
	for _, w := range o.watches {
		d.Watches(w.like)
	}
	if o.external != nil {
		d.External()
	}
	return d
}

// newOwner returns an empty owner.
func newOwner[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}
