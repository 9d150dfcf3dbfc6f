package builder

import (
	"context"
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Operator is the loop around a plan: it fetches the owner and what exists, asks the plan, carries it out, and writes
// the status. T is a pointer to the owner's type, such as *v1alpha1.JobFlow.
type Operator[T client.Object] struct {
	mgr     manager.Manager
	name    string
	engine  *Engine
	plan    PlanFunc[T]
	owned   []client.Object
	refs    []referredKind[T]
	options controller.Options
}

// referredKind is a kind that owners name in their spec.
type referredKind[T client.Object] struct {
	like  client.Object
	names func(T) []string
	index string
}

// NewOperator starts the description of an operator. Its name is unique in the manager; it is the controller's name,
// the field owner of its children, and the reporter of its events.
//
//	err := builder.NewOperator[*v1alpha1.JobFlow](mgr, "jobflow").
//		Owns(&batchv1.Job{}).
//		Plan(jobflow.Plan).
//		Complete()
func NewOperator[T client.Object](mgr manager.Manager, name string) *Operator[T] {
	return &Operator[T]{mgr: mgr, name: name, engine: EngineFor(mgr, name)}
}

// Owns names kinds of which owners have children: a change of a child runs its owner's plan, and the view has it.
func (o *Operator[T]) Owns(kinds ...client.Object) *Operator[T] {
	o.owned = append(o.owned, kinds...)
	return o
}

// Refers names a kind that an owner's spec refers to by name, in the owner's own namespace: names returns the names.
// When such an object appears, changes or goes, the plans of the owners that name it run; the view has it.
func (o *Operator[T]) Refers(kind client.Object, names func(T) []string) *Operator[T] {
	o.refs = append(o.refs, referredKind[T]{
		like: kind, names: names, index: fmt.Sprintf("armature.refers.%s/%T", o.name, kind),
	})
	return o
}

// Plan sets the operator's plan. It is required.
func (o *Operator[T]) Plan(plan PlanFunc[T]) *Operator[T] {
	o.plan = plan
	return o
}

// WithOptions sets the controller's options. Default: controller-runtime's.
func (o *Operator[T]) WithOptions(options controller.Options) *Operator[T] {
	o.options = options
	return o
}

// Complete adds the operator to its manager. It reports what was wrong in the description.
func (o *Operator[T]) Complete() error {
	if o.plan == nil {
		return fmt.Errorf("%w: operator %s has no plan", ErrMisuse, o.name)
	}
	ctx := context.Background() // index registration reads nothing
	if err := o.engine.IndexOwned(ctx, o.mgr.GetFieldIndexer(), o.owned...); err != nil {
		return fmt.Errorf("operator %s: %w", o.name, err)
	}
	b := builder.ControllerManagedBy(o.mgr).
		Named(o.name).
		// Our own status writes are no reason to look again; a spec, a deletion, a label or an annotation is.
		For(newOwner[T](), builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		WithOptions(o.options)
	for _, kind := range o.owned {
		b = b.Owns(kind)
	}
	for _, ref := range o.refs {
		if err := o.mgr.GetFieldIndexer().IndexField(ctx, newOwner[T](), ref.index, ref.indexValues); err != nil {
			return fmt.Errorf("operator %s: index by references: %w", o.name, err)
		}
		b = b.Watches(ref.like, handler.EnqueueRequestsFromMapFunc(o.ownersThatName(ref)))
	}
	return b.Complete(&loop[T]{engine: o.engine, plan: o.plan, owned: o.owned, refs: o.refs, now: now})
}

func (r referredKind[T]) indexValues(obj client.Object) []string {
	return r.names(obj.(T))
}

// ownersThatName finds the owners to look at when a referred object changes.
func (o *Operator[T]) ownersThatName(ref referredKind[T]) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		list, err := o.engine.listForOwner(newOwner[T]())
		if err != nil {
			return nil
		}
		err = o.engine.client.List(ctx, list, client.UnsafeDisableDeepCopy,
			client.InNamespace(obj.GetNamespace()), client.MatchingFields{ref.index: obj.GetName()})
		if err != nil {
			o.mgr.GetLogger().Error(err, "find owners by reference", "operator", o.name, "referred", obj.GetName())
			return nil
		}
		return requestsFor(list)
	}
}

// newOwner returns an empty owner.
func newOwner[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}
