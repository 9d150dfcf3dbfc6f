package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/fairshare"
	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/builder/internal/throttle"
)

// Operator is the loop around a plan: it reads the owner and observes its [View], asks the plan, applies it, and writes the
// status. T is a pointer to the owner's type, such as *v1alpha1.JobFlow.
type Operator[T client.Object] struct {
	mgr     manager.Manager
	name    string
	engine  *Engine
	plan    PlanFunc[T]
	owned   []client.Object
	away    []client.Object
	byName  []kindByName[T]
	options controller.Options

	dependents []declaredDependents
	watches    []declaredWatch
	external   func(context.Context, T, View) (any, error) // nil: none

	inFlight *inflight.Record // of the manager's quarantine; nil: none

	completed *completed[T] // nil before
}

// NewOperator starts the description of an operator. Its name is unique in the manager; it is the controller's name,
// the field owner of its children, and the reporter of its events.
//
//	err := builder.NewOperator[*v1alpha1.JobFlow](mgr, "jobflow").
//		Owns(&batchv1.Job{}).
//		Plan(jobflow.Plan).
//		Complete()
//
// Without a manager (nil) an operator can't be completed, but its Reconciler can be tested.
func NewOperator[T client.Object](mgr manager.Manager, name string) *Operator[T] {
	o := &Operator[T]{mgr: mgr, name: name}
	if mgr != nil {
		o.engine = EngineFor(mgr, name)
	}
	if with, ok := mgr.(interface{ PassesInFlight() *inflight.Record }); ok { // see package quarantine
		o.inFlight = with.PassesInFlight()
	}
	return o
}

// Owns declares a kind of which owners have children: an event of a child runs its owner's plan, and [Owned] returns it. With
// [Dependents] the operator also watches the objects that children of the kind control in turn. A plan whose Children or Prune
// have another kind is [ErrMisuse], because their changes would never be seen.
func (o *Operator[T]) Owns(kind client.Object, options ...OwnsOption) *Operator[T] {
	o.owned = append(o.owned, kind)
	for _, option := range options {
		option.applyToOwns(func(dependents client.Object) {
			o.dependents = append(o.dependents, declaredDependents{kind, dependents})
		})
	}
	return o
}

// OwnsOption configures a kind of [Operator.Owns]: [Dependents].
type OwnsOption interface {
	applyToOwns(addDependents func(kind client.Object))
}

type ownsOption struct{ dependents client.Object }

func (d ownsOption) applyToOwns(add func(client.Object)) { add(d.dependents) }

// OwnsCrossNamespace names kinds of which owners have children [CrossNamespace]: a change of such a child runs its owner's plan,
// and the view has it. They are watched in the whole cluster, or as far as the manager's cache reaches, which must be
// where these children are. A plan with cross-namespace children of another kind is [ErrMisuse].
func (o *Operator[T]) OwnsCrossNamespace(kinds ...client.Object) *Operator[T] {
	o.away = append(o.away, kinds...)
	return o
}

// Plan sets the operator's plan. It is required.
func (o *Operator[T]) Plan(plan PlanFunc[T]) *Operator[T] {
	o.plan = plan
	return o
}

// WithOptions sets the controller's options. Default: controller-runtime's, that is, one pass at a time, but for
// the backoff and the queue. The backoff is from 5 ms to 1 minute: what holds a pass up may be fixed by someone who waits, such
// as a quota. In the queue namespaces take turns, so that thousands of owners in one don't delay those of another by more than
// a pass each; NewQueue sets another queue.
func (o *Operator[T]) WithOptions(options controller.Options) *Operator[T] {
	o.options = options
	return o
}

// Reconciler returns the operator's loop on a client and a clock of the caller's, for tests: nothing is watched, and no
// events are emitted. What has to be read past the cache is read through the client's method Live, if it has one, as
// that of buildertest has, and children are found by an index if it has informers, as a manager's cache has. It reports
// what is wrong in the description, as ErrMisuse. A pass whose plan changes the owner or an observed object fails with
// ErrMisuse, which names the object and the field; on a client that has informers it is reported as by a manager.
func (o *Operator[T]) Reconciler(c client.Client, clock func() time.Time) (reconcile.Reconciler, error) {
	alone := *o
	options := Options{Name: o.name, Clock: clock}
	if past, ok := c.(interface{ Live() client.Reader }); ok {
		options.Reader = past.Live()
	}
	alone.engine = NewEngine(c, options)
	l, err := alone.loop()
	if err != nil {
		return nil, fmt.Errorf("operator %s: %w", o.name, err)
	}
	l.now, l.guard.copies = clock, true
	if indexed, ok := c.(interface {
		client.FieldIndexer
		cache.Informers
	}); ok {
		l.guard.copies = false // as a manager's, its objects are shared, and there may be many
		err = alone.index(context.Background(), indexed)
	}
	return l, err
}

// Complete adds the operator to its manager, which must not have been started. It reports all that is wrong in the
// description, as ErrMisuse.
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
	l, err := o.loop()
	if err != nil {
		return err
	}
	options := o.options
	if options.RateLimiter == nil {
		options.RateLimiter = throttle.NewBackoff()
	}
	if options.NewQueue == nil {
		options.NewQueue = throttle.NewQueue
	}
	ctx := context.Background() // index registration reads nothing
	if err := o.index(ctx, o.mgr.GetFieldIndexer()); err != nil {
		return err
	}
	b := builder.ControllerManagedBy(o.mgr).
		Named(o.name).
		For(newOwner[T](), builder.WithPredicates(ownerChanged)).
		WithOptions(options)
	for _, obj := range o.owned {
		b = b.Owns(obj)
	}
	for _, obj := range o.away {
		b = b.Watches(obj, handler.EnqueueRequestsFromMapFunc(ownersCrossNamespace(l.owner.GVK.GroupKind())))
	}
	for _, w := range l.watches {
		if err := w.index(ctx, o.mgr.GetFieldIndexer()); err != nil {
			return err
		}
		b = b.Watches(w.like, w.handler())
	}
	l.pace, l.share = throttle.NewPasses(), share
	c, err := b.Build(l)
	o.completed = &completed[T]{controller: c, loop: l}
	return err
}

// share is one for the process, whose CPUs all operators use.
var share = fairshare.New(runtime.GOMAXPROCS(0))

// index indexes children, those elsewhere and dependents by their controller.
func (o *Operator[T]) index(ctx context.Context, indexer client.FieldIndexer) error {
	for _, obj := range o.owned {
		if err := o.engine.Index(ctx, indexer, obj); err != nil {
			return err
		}
	}
	for _, obj := range o.away {
		if err := o.engine.Index(ctx, indexer, obj, CrossNamespace()); err != nil {
			return err
		}
	}
	for _, d := range o.dependents {
		k, err := o.engine.kinds.Of(d.like)
		if err == nil && !o.engine.isIndexed(k) {
			err = o.engine.Index(ctx, indexer, d.like)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loop checks the description and returns what it describes.
func (o *Operator[T]) loop() (*loop[T], error) {
	l := &loop[T]{engine: o.engine, plan: o.plan, now: time.Now, statusWrites: throttle.NewStatuses(), inFlight: o.inFlight}
	owned := &ownedKinds{declared: o.declarations()}
	l.owned.Store(owned)
	var errs []error
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: the owner's type is %s; it must be a pointer to a struct, such as *v1.Deployment", ErrMisuse, t)
	}
	var err error
	if l.owner, err = o.engine.kinds.Of(newOwner[T]()); err != nil {
		errs = append(errs, fmt.Errorf("owner: %w", err))
	}
	if o.plan == nil {
		errs = append(errs, fmt.Errorf("%w: there is no Plan", ErrMisuse))
	}
	for _, obj := range o.owned {
		k, err := o.engine.kinds.Of(obj)
		if err != nil {
			errs = append(errs, fmt.Errorf("Owns: %w", err))
		}
		owned.kinds = append(owned.kinds, k)
	}
	for _, obj := range o.away {
		k, err := o.engine.kinds.Of(obj)
		if err != nil {
			errs = append(errs, fmt.Errorf("OwnsCrossNamespace: %w", err))
		}
		l.away = append(l.away, k)
	}
	watches, watchesErr := o.checkWatches(l.owner)
	byName, byNameErr := o.checkByName()
	l.watches, l.byName, l.external = watches, byName, o.external
	return l, errors.Join(append(errs, watchesErr, byNameErr)...)
}

// newOwner returns an empty owner.
func newOwner[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}
