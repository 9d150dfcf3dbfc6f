package builder

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// View is the observed state for which a plan is made: the owner's children and what these control in turn (see [Owned]),
// the objects that the operator Watches (see [Watched] and [Lookup]), and the state of something outside the cluster (see the
// function [External]). Everything in it is shared with the cache and must not be changed.
type View struct {
	// Now is the time of this pass.
	Now time.Time

	owned    map[reflect.Type][]client.Object // in order, as are watched
	watched  map[reflect.Type][]client.Object
	external any

	misuse *misuse // of this view; nil: nothing is declared, and any kind may be asked for

	ctx context.Context // of the pass; nil: it never ends
}

// Context returns the context of the pass. A plan that may take long returns early, with anything, once it has ended: the builder
// discards such a plan, and so must other callers. A plan has no other use for it; what it returns doesn't depend on it.
func (v View) Context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

// WithContext returns the view with a context, for those who call a plan themselves.
func (v View) WithContext(ctx context.Context) View {
	v.ctx = ctx
	return v
}

// NewView returns a view of children at a time, for tests of plans. By itself it knows nothing of what an operator
// declares, and a plan may ask it for any kind: see [Operator.PlanFor]. Package buildertest adds watched objects and
// external state.
func NewView(now time.Time, children ...client.Object) View {
	return newView(now, slices.Values(children))
}

func newView(now time.Time, children iter.Seq[client.Object]) View {
	v := View{Now: now, owned: byType(children)}
	for _, objs := range v.owned {
		sortByName(objs)
	}
	return v
}

// With returns the view with further watched objects, and with external state if that isn't nil. It is for package
// buildertest, which has a function for each.
func (v View) With(watched []client.Object, external any) View {
	v.watched = maps.Clone(v.watched)
	for t, objs := range byType(slices.Values(watched)) {
		v.add(fromWatched, t, objs)
	}
	if external != nil {
		v.external = external
	}
	return v
}

func byType(objs iter.Seq[client.Object]) map[reflect.Type][]client.Object {
	all := map[reflect.Type][]client.Object{}
	for o := range objs {
		t := reflect.TypeOf(o)
		all[t] = append(all[t], o)
	}
	return all
}

// add adds objects of one Go type and takes over their slice. A watched object that two sources list is there once.
func (v *View) add(from origin, t reflect.Type, objs []client.Object) {
	at := &v.owned
	if from == fromWatched {
		at = &v.watched
	}
	if *at == nil {
		*at = map[reflect.Type][]client.Object{}
	}
	there := (*at)[t]
	if len(there) > 0 {
		objs = append(slices.Clone(there), objs...)
	}
	sortByName(objs)
	if len(there) > 0 && from == fromWatched {
		objs = slices.CompactFunc(objs, func(a, b client.Object) bool {
			return a.GetName() == b.GetName() && a.GetNamespace() == b.GetNamespace()
		})
	}
	(*at)[t] = objs
}

// sortByName gives objects an order, so that the same view always makes the same plan. Of one kind each has a name of
// its own; objects without a Go type may be of several.
func sortByName(objs []client.Object) {
	if len(objs) < 2 {
		return
	}
	type named struct {
		name, namespace string
		object          client.Object
	}
	all := make([]named, len(objs)) // to ask each object once
	for i, o := range objs {
		all[i] = named{o.GetName(), o.GetNamespace(), o}
	}
	slices.SortFunc(all, func(a, b named) int {
		if a.namespace != b.namespace {
			return strings.Compare(a.namespace, b.namespace)
		}
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.object.GetObjectKind().GroupVersionKind().String(), b.object.GetObjectKind().GroupVersionKind().String())
	})
	for i := range all {
		objs[i] = all[i].object
	}
}

// Owned returns the children of one kind that the owner controls, also those that are being deleted, ordered by namespace
// and name. The kind must be one that the operator Owns; otherwise the pass fails with ErrMisuse, which has the line to add.
// Of a kind that is among the [Dependents] of another it returns the objects that the owner's children control, of a kind
// that is both, all of them together. The slice is the caller's, its objects are not.
//
//	for _, job := range builder.Owned[*batchv1.Job](observed) { ... }
func Owned[C client.Object](v View) []C { return find[C](v, fromOwned, v.owned) }

// Watched returns the objects of one kind that the operator Watches and that concern the owner, also those that are being
// deleted, ordered by namespace and name: those that its spec names ([ReferencedBy]), those that name it ([Referencing]), or
// all ([SeenByAll]). Without such a watch the pass fails with ErrMisuse, which has the line to add. W may also be an
// interface: then the objects of all watched kinds that implement it. The slice is the caller's, its objects are not.
//
//	for _, node := range builder.Watched[*corev1.Node](observed) { ... }
func Watched[W client.Object](v View) []W {
	t := reflect.TypeFor[W]()
	if t.Kind() != reflect.Interface {
		return find[W](v, fromWatched, v.watched)
	}
	v.checkInterface(t)
	var objs []W
	byName := func(a, b reflect.Type) int { return strings.Compare(a.String(), b.String()) }
	for _, of := range slices.SortedFunc(maps.Keys(v.watched), byName) {
		if of.Implements(t) {
			objs = append(objs, as[W](v.watched[of])...)
		}
	}
	return objs
}

// find returns the objects of a kind that have an origin.
func find[C client.Object](v View, from origin, among map[reflect.Type][]client.Object) []C {
	t := reflect.TypeFor[C]()
	objs, ok := among[t]
	if !ok {
		v.check(from.function(), from, t)
	}
	return as[C](objs)
}

// Lookup returns the object of one kind and name, also one that is being deleted, and whether there is one. Of a kind that
// the operator Owns it is the child: it is [Owned] for a plan whose children have fixed names. Of a kind that the operator
// only Watches it is the watched object, such as the Secret that the spec names. With objects in several namespaces it is the
// one in the first of them, by name. A kind that is neither owned nor watched fails the pass with ErrMisuse. The object is
// shared with the cache.
//
//	if job, ok := builder.Lookup[*batchv1.Job](observed, owner.Name+"-migrate"); ok { ... }
func Lookup[C client.Object](v View, name string) (C, bool) {
	t := reflect.TypeFor[C]()
	all, ok := v.owned[t]
	if !ok && !v.declares(fromOwned, t) { // a watched object never stands for a child: others can write it
		if all, ok = v.watched[t]; !ok && !v.declares(fromWatched, t) {
			v.check("Lookup", fromOwned, t)
		}
	}
	for len(all) > 0 { // ordered by namespace and name; mostly of one namespace
		namespace := all[0].GetNamespace()
		of, _ := slices.BinarySearchFunc(all, namespace+"\x00", func(o client.Object, end string) int {
			if o.GetNamespace() < end {
				return -1
			}
			return 1
		})
		i, found := slices.BinarySearchFunc(all[:of], name, func(o client.Object, name string) int {
			return strings.Compare(o.GetName(), name)
		})
		if found {
			return all[i].(C), true
		}
		all = all[of:]
	}
	var none C
	return none, false
}

// as returns objects as what they are.
func as[C client.Object](objs []client.Object) []C {
	typed := make([]C, len(objs))
	for i, o := range objs {
		typed[i] = o.(C)
	}
	return typed
}
