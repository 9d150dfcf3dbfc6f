package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	watchsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/sources"
)

// OwnsOption configures a kind of [Operator.Owns]: [Dependents], [ByName] and [CrossNamespace].
type OwnsOption interface {
	applyToOwns(o *owns)
}

// owns is a call of Owns.
type owns struct {
	like  client.Object
	owner reflect.Type // the operator's

	crossNamespace bool
	names          []func(owner client.Object) []string // of ByName
	dependents     []client.Object
	performers     []effect.Performer // of effects, whose journals are of this kind
	errs           []error
}

// ownsOption is an option as a function.
type ownsOption func(o *owns)

func (f ownsOption) applyToOwns(o *owns) { f(o) }

// Dependents watches a kind of objects that the children control, such as the Pods of Jobs. [Owned] returns them together with the
// owner's children of their kind. An event of such an object enqueues the owner. Plans can only read them, because their controller
// manages them: a plan that edits, deletes or desires one is [ErrNotOwned]. It doesn't include the dependents of children in other
// namespaces.
//
//	Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{}))
func Dependents(kind client.Object) OwnsOption {
	return ownsOption(func(o *owns) { o.dependents = append(o.dependents, kind) })
}

// ByName reads the children of a kind by name, from the API server, in the owner's namespace. names takes the owner's type and returns
// the names; the builder ignores empty ones. The builder neither lists nor watches the children, so the operator's role needs the verb
// get and neither list nor watch. Use it for Secrets: RBAC can't separate a list of their metadata from a list of their content, so
// the verb list allows reading all of them.
//
// The view and the plan have these children like others, with two differences. The view doesn't have, and the builder doesn't prune, a
// child whose name isn't among names. And a change of a child causes no pass: the next pass that reads the child observes it. A pass
// reads the child if the last read is a minute old, if the owner's generation has changed, or if the last pass has written such a
// child or failed; a pass that didn't read it is followed by one that does. To save requests, names should return nothing for an owner
// that has ended. [Plan].PruneAll lists each kind that the plan no longer has, so it needs the verb list. The kind must have a Go
// type.
//
//	Owns(&corev1.Secret{}, builder.ByName(func(app *v1.WebApp) []string { return []string{app.Name + "-key"} }))
func ByName[T client.Object](names func(owner T) []string) OwnsOption {
	return ownsOption(func(o *owns) {
		switch owner := reflect.TypeFor[T](); {
		case names == nil:
			o.misused("%T needs a function in ByName, which returns names", o.like)
		case !o.owner.AssignableTo(owner):
			o.misused("%T: ByName has a function of %s; it must be of %s", o.like, owner, o.owner)
		default:
			o.names = append(o.names, func(obj client.Object) []string { return names(obj.(T)) })
		}
	})
}

// misused records an error of an option.
func (o *owns) misused(format string, args ...any) {
	o.errs = append(o.errs, fmt.Errorf("%w: "+format, append([]any{ErrMisuse}, args...)...))
}

// check returns the kind, and the errors of the options.
func (o *owns) check(r *kinds.Registry) (kinds.Kind, error) {
	k, err := r.Of(o.like)
	switch {
	case err != nil:
	case len(o.names) > 1:
		o.misused("%T has ByName twice", o.like)
	case len(o.names) > 0 && (o.crossNamespace || len(o.dependents) > 0), o.crossNamespace && len(o.dependents) > 0:
		o.misused("%T has more than one of ByName, CrossNamespace and Dependents; give one, and a line Owns of its own for another", o.like)
	case len(o.names) > 0 && !r.IsTyped(k, o.like):
		o.misused("%T with ByName; it must be of the own Go type of kind %s", o.like, k.GVK.Kind)
	case o.performers != nil:
		err = o.checkPerformers()
	}
	return k, errors.Join(append(o.errs, err)...)
}

// Watches watches objects that aren't the owner's children. One option selects the owners that an event concerns and the objects that
// their plans read with [Watched] and [Lookup]: [ReferencedBy], [Referencing] or [ObservedByAll]. [EnqueueFor] reduces the owners of an
// event. The kind must have a Go type. An operator may watch a kind more than once, and own it as well: [Watched] returns the objects
// of all its watches. While the objects can't be read, the owner's passes fail before the plan. A terminating owner doesn't need them: its
// deletion continues without a plan. Complete returns errors as [ErrMisuse].
func (o *Operator[T]) Watches(kind client.Object, options ...WatchOption) *Operator[T] {
	o.watches = append(o.watches, declaredWatch{kind, options})
	return o
}

// WatchOption configures a watch of [Operator.Watches]: [ReferencedBy], [Referencing], [ObservedByAll] and [EnqueueFor].
type WatchOption interface {
	applyToWatch(w *watchConfig)
}

// declaredWatch is a call of Watches, before its check.
type declaredWatch struct {
	like    client.Object
	options []WatchOption
}

// watchConfig collects the options of one watch.
type watchConfig struct {
	sources.Watch
	throttle *sources.Throttle
	made     []func(w sources.Watch) sources.Source // called after all options are known
	mapped   bool                                   // the source itself maps an event to owners
	errs     []error
}

// misused records an error of an option.
func (w *watchConfig) misused(format string, args ...any) {
	w.errs = append(w.errs, fmt.Errorf("%w: "+format, append([]any{ErrMisuse}, args...)...))
}

// watchOption is an option as a function.
type watchOption func(w *watchConfig)

func (f watchOption) applyToWatch(w *watchConfig) { f(w) }

// ReferencedBy watches objects that an owner's spec names, in the owner's namespace or cluster-scoped, such as a Secret or a template.
// names takes the owner's type and returns the names; the builder ignores empty ones. [Lookup] returns one of the objects, [Watched]
// all. An event enqueues the owners that name the object: up to a thousand owners of a namespace at once, then a hundred a second.
// [EnqueueFor] reduces them. An object that exists when the program starts enqueues no owner.
func ReferencedBy[T client.Object](names func(owner T) []string) WatchOption {
	return watchOption(func(w *watchConfig) {
		if names == nil {
			w.misused("ReferencedBy needs a function that returns names")
			return
		}
		takes[T](w, "ReferencedBy", w.AnOwner)
		throttle := w.throttle
		w.made = append(w.made, func(w sources.Watch) sources.Source {
			return sources.ReferencedBy(w, func(owner client.Object) []string { return names(owner.(T)) }, throttle)
		})
	})
}

// Referencing watches objects that name owners in their own namespace, such as Pods with the cluster's name in a label, or a policy
// with a target reference. owners takes the watched kind's Go type or client.Object, returns the names of the owners in an object, and
// must not change the object. [Watched] returns the objects that name the owner. An event enqueues the owners that the object names
// and those that it named before.
//
// Anyone who can write such an object can name any owner. A plan must not do more for the object than its author is allowed to do.
func Referencing[K client.Object](owners func(obj K) []string) WatchOption {
	return watchOption(func(w *watchConfig) {
		if owners == nil {
			w.misused("Referencing needs a function that returns the names of owners")
			return
		}
		takes[K](w, "Referencing", w.Like)
		w.mapped = true
		w.made = append(w.made, func(w sources.Watch) sources.Source {
			return sources.Referencing(w, func(obj client.Object) []string { return owners(obj.(K)) })
		})
	})
}

// ObservedByAll watches objects that the plans of all owners read, such as nodes. [Watched] returns all objects of the kind, in the whole
// cluster or in the namespaces of the manager's cache. An event enqueues all owners. Reduce that by [EnqueueFor] for kinds with many
// events: a node's status changes every few minutes. An object that exists when the program starts enqueues no owner.
func ObservedByAll() WatchOption {
	return watchOption(func(w *watchConfig) { w.made = append(w.made, sources.ObservedByAll) })
}

// EnqueueFor reduces the owners that an event enqueues. The event is a creation (before is nil), a change, or a deletion (after is
// nil) of an object. The function returns whether the event concerns all owners that read the object: all owners with [ObservedByAll],
// those that name it with [ReferencedBy]. It also returns the names of further owners; the builder ignores names without an owner. Use
// it for a shared object that thousands of owners read, and whose changes concern few of them, such as the head of a queue. The
// function must be pure and must change neither object. An owner that isn't enqueued observes the change at its next pass. The
// function takes the watched kind's Go type or client.Object. Default: each change concerns every owner that reads the object.
//
//	// jobsOfNode returns all jobs if a node comes, goes, or has other labels.
//	func jobsOfNode(before, after *corev1.Node) (all bool, names []types.NamespacedName) {
//		return before == nil || after == nil || !maps.Equal(before.Labels, after.Labels), nil
//	}
//
//	Watches(&corev1.Node{}, builder.ObservedByAll(), builder.EnqueueFor(jobsOfNode))
func EnqueueFor[K client.Object](owners func(before, after K) (all bool, names []types.NamespacedName)) WatchOption {
	return watchOption(func(w *watchConfig) {
		if owners == nil {
			w.misused("EnqueueFor needs a function")
			return
		}
		if w.Concerns != nil {
			w.misused("EnqueueFor is given twice")
		}
		takes[K](w, "EnqueueFor", w.Like)
		w.Concerns = func(before, after client.Object) (bool, []types.NamespacedName) {
			b, _ := before.(K) // a nil event object is a nil K
			a, _ := after.(K)
			return owners(b, a)
		}
	})
}

// takes records an error if an option's function takes another type than that of the objects it receives.
func takes[K client.Object](w *watchConfig, option string, obj client.Object) {
	if _, ok := obj.(K); !ok {
		w.misused("%s has a function of %s; it must be of %T", option, reflect.TypeFor[K](), obj)
	}
}

// watch is a source with its kind, and whether the view has its objects as owned or as watched.
type watch struct {
	sources.Source
	like client.Object // an empty object of the kind
	from plancheck.Origin
}

// checkWatches returns the sources that Dependents and Watches declare.
func (o *Operator[T]) checkWatches(owner kinds.Kind) ([]watch, error) {
	var watches []watch
	var errs []error
	of := func(like client.Object) sources.Watch {
		return sources.Watch{Reader: o.engine.cached(), Owner: owner, AnOwner: newOwner[T](), Like: like}
	}
	for _, parent := range o.owned {
		for _, like := range parent.dependents {
			d := of(like)
			parentKind, parentErr := d.Kinds.Of(parent.like)
			k, err := d.Kinds.Of(like)
			if err := errors.Join(parentErr, err); err != nil {
				errs = append(errs, fmt.Errorf("Owns: Dependents: %w", err))
				continue
			}
			d.Kind = k
			watches = append(watches, watch{sources.Dependents(d, parentKind, o.engine.byController), like, plancheck.Owned})
		}
	}
	throttle := sources.NewThrottle()
	for i, d := range o.watches {
		w := of(d.like)
		w.Field = fmt.Sprintf("armature.watch/%s/%d", o.name, i)
		s, err := d.check(&watchConfig{Watch: w, throttle: throttle})
		if err != nil {
			errs = append(errs, fmt.Errorf("Watches: %w", err))
			continue
		}
		watches = append(watches, watch{s, d.like, plancheck.Watched})
	}
	return watches, errors.Join(errs...)
}

// check returns the source of the options.
func (d declaredWatch) check(w *watchConfig) (sources.Source, error) {
	k, err := w.Kinds.Of(d.like)
	if err != nil {
		return nil, err
	}
	if !w.Kinds.IsTyped(k, d.like) {
		return nil, fmt.Errorf("%w: %T of kind %s; it must be of the kind's own Go type", ErrMisuse, d.like, k.GVK.Kind)
	}
	w.Kind = k
	for _, option := range d.options {
		if option == nil {
			return nil, fmt.Errorf("%w: an option of %T is nil", ErrMisuse, d.like)
		}
		option.applyToWatch(w)
	}
	switch {
	case len(w.errs) > 0:
		return nil, fmt.Errorf("%T: %w", d.like, errors.Join(w.errs...))
	case len(w.made) != 1:
		return nil, fmt.Errorf("%w: %T has %d of ReferencedBy, Referencing and ObservedByAll; give one of them", ErrMisuse, d.like, len(w.made))
	case w.Concerns != nil && w.mapped:
		return nil, fmt.Errorf("%w: %T has EnqueueFor beside Referencing, whose function names the owners already", ErrMisuse, d.like)
	}
	return w.made[0](w.Watch), nil
}

// ownedKinds are the kinds of an operator's children, and all kinds that the operator declares. The value is immutable: OwnsLater
// replaces it.
type ownedKinds struct {
	kinds    []kinds.Kind
	declared *plancheck.Declared
}

// completed is the state of an operator after Complete.
type completed[T client.Object] struct {
	mu         sync.Mutex
	controller controller.Controller
	reconciler *reconciler[T]
	watched    sets.Set[kinds.Kind] // by OwnsLater
}

// syncWithin is how long OwnsLater waits for the cache of a kind. Until it has returned, no pass reads the kind.
const syncWithin = 2 * time.Second

// OwnsLater is [Operator.Owns] for a completed operator. Use it for a kind whose API was installed after the program started. From then on
// an event of such a child runs its owner's plan, and plans may have children of the kind; the view has them, too, in a pass whose External
// calls OwnsLater. For a kind that the operator owns already it does nothing. It is safe for concurrent use, also from the function of
// [Operator.External]. For a kind that isn't installed it returns the error of the RESTMapper. It returns an error, too, if the cache
// doesn't have the objects within 2 seconds, such as without the permission to list them; a later call continues.
func (o *Operator[T]) OwnsLater(ctx context.Context, obj client.Object) error {
	running := o.completed
	if running == nil {
		return fmt.Errorf("operator %s: %w: OwnsLater before Complete; Owns is what declares a kind before", o.name, ErrMisuse)
	}
	k, err := o.engine.kinds.Of(obj)
	if err != nil {
		return fmt.Errorf("operator %s: OwnsLater: %w", o.name, err)
	}
	running.mu.Lock()
	defer running.mu.Unlock()
	if slices.Contains(running.reconciler.owned.Load().kinds, k) {
		return nil
	}
	if _, err := o.mgr.GetRESTMapper().RESTMapping(k.GVK.GroupKind(), k.GVK.Version); err != nil {
		return fmt.Errorf("operator %s: OwnsLater: %w", o.name, err)
	}
	if !o.engine.byController.Has(k) {
		if err := o.engine.Index(ctx, o.mgr.GetFieldIndexer(), obj); err != nil {
			return fmt.Errorf("operator %s: OwnsLater: %w", o.name, err)
		}
	}
	if !running.watched.Has(k) {
		owners := handler.EnqueueRequestForOwner(o.mgr.GetScheme(), o.mgr.GetRESTMapper(), newOwner[T](), handler.OnlyControllerOwner())
		if err := running.controller.Watch(watchsource.Kind(o.mgr.GetCache(), obj, owners)); err != nil {
			return fmt.Errorf("operator %s: OwnsLater: watch %s: %w", o.name, k.GVK.GroupKind(), err)
		}
		running.watched.Insert(k)
	}
	soon, cancel := context.WithTimeout(ctx, syncWithin)
	defer cancel()
	if err := o.engine.byController.AwaitSync(soon, k); err != nil {
		return fmt.Errorf("operator %s: OwnsLater: the cache doesn't have %s yet; may the operator list and watch it? %w",
			o.name, k.GVK.GroupKind(), err)
	}
	o.owned = append(o.owned, owns{like: obj, owner: reflect.TypeFor[T]()})
	before := running.reconciler.owned.Load()
	running.reconciler.owned.Store(&ownedKinds{append(slices.Clip(before.kinds), k), o.declared()})
	return nil
}
