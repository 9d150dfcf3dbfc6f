package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/throttle"
)

// Operator is the loop around a plan: it fetches the owner and what exists, asks the plan, carries it out, and writes
// the status. T is a pointer to the owner's type, such as *v1alpha1.JobFlow.
type Operator[T client.Object] struct {
	mgr     manager.Manager
	name    string
	engine  *Engine
	plan    PlanFunc[T]
	owned   []client.Object
	away    []client.Object
	refs    []referredKind[T]
	reads   []readKind
	wakes   []wake
	through []throughKind
	naming  []namingKind
	sense   func(context.Context, T, View) (any, error)
	options controller.Options

	quarantine *Quarantine // nil: none

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
	if with, ok := mgr.(quarantining); ok {
		o.quarantine = with.quarantine
	}
	return o
}

// Owns names kinds of which owners have children: a change of a child runs its owner's plan, and the view has it.
// A plan whose Children or Prune have another kind is [ErrMisuse]: changes of such children would never be seen.
func (o *Operator[T]) Owns(kinds ...client.Object) *Operator[T] {
	o.owned = append(o.owned, kinds...)
	return o
}

// OwnsElsewhere names kinds of which owners have children [Elsewhere]: a change of such a child runs its owner's plan,
// and the view has it. They are watched in the whole cluster, or as far as the manager's cache reaches, which must be
// where these children are. A plan with children elsewhere of another kind is [ErrMisuse].
func (o *Operator[T]) OwnsElsewhere(kinds ...client.Object) *Operator[T] {
	o.away = append(o.away, kinds...)
	return o
}

// Refers names a kind that an owner's spec refers to by name, in the owner's own namespace: names returns the names,
// of which empty ones are none. When such an object appears, changes or goes, the plans of the owners that name it run;
// the view has it. Where one object is named by more than a thousand owners of a namespace, those beyond wait for each other: a
// hundred a second. What exists when the program starts wakes no one. The kind must have a Go type.
func (o *Operator[T]) Refers(kind client.Object, names func(T) []string) *Operator[T] {
	o.refs = append(o.refs, referredKind[T]{
		like: kind, names: names, index: fmt.Sprintf("armature.refers/%s/%d", o.name, len(o.refs)),
	})
	return o
}

// Plan sets the operator's plan. It is required.
func (o *Operator[T]) Plan(plan PlanFunc[T]) *Operator[T] {
	o.plan = plan
	return o
}

// WithOptions sets the controller's options. Default: controller-runtime's, that is, one pass at a time, but for
// the backoff and the queue. The backoff is from 5 ms to 1 minute: what holds a pass up may be mended by someone who waits, such
// as a quota. In the queue namespaces take turns, so that thousands of owners in one don't delay those of another by more than
// a pass each; NewQueue brings another queue.
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
		err = alone.index(context.Background(), indexed, l)
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
	if err := o.index(ctx, o.mgr.GetFieldIndexer(), l); err != nil {
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
		b = b.Watches(obj, handler.EnqueueRequestsFromMapFunc(ownersElsewhere(l.owner.gvk.GroupKind())))
	}
	shared := newSharedWakes(time.Now)
	for _, ref := range l.refs {
		if err := o.mgr.GetFieldIndexer().IndexField(ctx, newOwner[T](), ref.index, ref.indexValues); err != nil {
			return fmt.Errorf("index by references: %w", err)
		}
		b = b.Watches(ref.like, shared.throttled(o.wakerOfReferred(ref.like), ref.owners(o.engine)))
	}
	for _, read := range l.reads {
		owners := allOwners(o.engine, l.owner)
		if w, ok := o.wakerOf(read.like); ok {
			b = b.Watches(read.like, w.handler(owners))
			continue
		}
		b = b.Watches(read.like, handler.EnqueueRequestsFromMapFunc(owners), builder.WithPredicates(read.matters()))
	}
	for _, t := range l.through {
		b = b.Watches(t.like, handler.EnqueueRequestsFromMapFunc(t.owners(o.engine, l.owner)))
	}
	for _, n := range l.naming {
		if err := o.mgr.GetFieldIndexer().IndexField(ctx, n.like, n.index, n.names); err != nil {
			return fmt.Errorf("index by the names of owners: %w", err)
		}
		b = b.Watches(n.like, handler.EnqueueRequestsFromMapFunc(n.owners()))
	}
	l.indexed, l.pace = true, throttle.NewPasses()
	c, err := b.Build(l)
	o.completed = &completed[T]{controller: c, loop: l}
	return err
}

// index lets children, those elsewhere and grandchildren be found by who controls them.
func (o *Operator[T]) index(ctx context.Context, indexer client.FieldIndexer, l *loop[T]) error {
	if err := o.engine.IndexOwned(ctx, indexer, o.owned...); err != nil {
		return err
	}
	if err := o.engine.IndexElsewhere(ctx, indexer, o.away...); err != nil {
		return err
	}
	for _, t := range l.through {
		if o.engine.isIndexed(t.kind) {
			continue
		}
		if err := o.engine.IndexOwned(ctx, indexer, t.like); err != nil {
			return err
		}
	}
	return nil
}

// loop checks the description and returns what it describes.
func (o *Operator[T]) loop() (*loop[T], error) {
	l := &loop[T]{engine: o.engine, plan: o.plan, now: time.Now, statusWrites: throttle.NewStatuses(), quarantine: o.quarantine}
	owned := &ownedKinds{declared: o.declarations()}
	l.owned.Store(owned)
	var errs []error
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: the owner's type is %s; it must be a pointer to a struct, such as *v1.Deployment", ErrMisuse, t)
	}
	var err error
	if l.owner, err = o.engine.kinds.of(newOwner[T]()); err != nil {
		errs = append(errs, fmt.Errorf("owner: %w", err))
	}
	if o.plan == nil {
		errs = append(errs, fmt.Errorf("%w: there is no Plan", ErrMisuse))
	}
	for _, obj := range o.owned {
		k, err := o.engine.kinds.of(obj)
		if err != nil {
			errs = append(errs, fmt.Errorf("Owns: %w", err))
		}
		owned.kinds = append(owned.kinds, k)
	}
	for _, obj := range o.away {
		k, err := o.engine.kinds.of(obj)
		if err != nil {
			errs = append(errs, fmt.Errorf("OwnsElsewhere: %w", err))
		}
		l.away = append(l.away, k)
	}
	for _, ref := range o.refs {
		k, err := o.engine.kinds.of(ref.like)
		if err == nil && (k.untyped || ref.names == nil) {
			err = fmt.Errorf("%w: %s needs a Go type and a function that returns names", ErrMisuse, k.gvk.Kind)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("Refers: %w", err))
		}
		ref.kind = k
		l.refs = append(l.refs, ref)
	}
	reads, readsErr := o.checkReads()
	through, throughErr := o.checkThrough(owned.kinds)
	naming, namingErr := o.checkNaming()
	l.reads, l.through, l.naming, l.sense = reads, through, naming, o.sense
	return l, errors.Join(append(errs, readsErr, throughErr, namingErr, o.checkWakes())...)
}

// newOwner returns an empty owner.
func newOwner[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}
