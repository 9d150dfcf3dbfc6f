package builder

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// View is what exists when a plan is made: the owner's children, what these control in turn, the objects that its spec
// refers to, those that name it, those that all owners look at, and what was sensed outside of the cluster. Everything in it is shared with the cache and must not be changed.
type View struct {
	// Now is the time of this pass.
	Now time.Time

	owned    map[reflect.Type][]client.Object
	referred map[reference]client.Object
	read     map[reflect.Type][]client.Object
	naming   map[reflect.Type][]client.Object
	sensed   any

	misuse *misuse // of this view; nil: nothing is declared, and any kind may be asked for
}

// reference is how an owner's spec names an object of its own namespace.
type reference struct {
	kind reflect.Type
	name string
}

// NewView returns a view of these children at a time, for tests of plans. By itself it knows nothing of what an operator
// declares, and a plan may ask it for any kind: see [Operator.PlanFor].
func NewView(now time.Time, children ...client.Object) View {
	return newView(now, slices.Values(children))
}

func newView(now time.Time, children iter.Seq[client.Object]) View {
	v := View{Now: now, owned: map[reflect.Type][]client.Object{}, referred: map[reference]client.Object{}}
	for c := range children {
		t := reflect.TypeOf(c)
		v.owned[t] = append(v.owned[t], c)
	}
	for _, objs := range v.owned {
		sortByName(objs)
	}
	return v
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

// WithReferred returns the view with objects that the owner refers to, for tests of plans.
func (v View) WithReferred(objs ...client.Object) View {
	referred := make(map[reference]client.Object, len(v.referred)+len(objs))
	maps.Copy(referred, v.referred)
	v.referred = referred
	for _, o := range objs {
		v.refer(o)
	}
	return v
}

func (v View) refer(o client.Object) {
	v.referred[reference{reflect.TypeOf(o), o.GetName()}] = o
}

// Owned returns the children of one kind that the owner controls, also those that are being deleted, ordered by
// namespace and name. The kind must be one that the operator Owns; else the pass fails with ErrMisuse, which has the line
// to add. Of a kind that it OwnsThrough another they are what
// the owner's children control; of one that it both Owns and OwnsThrough, all of them together. The slice is the
// caller's, its objects are not.
//
//	for _, job := range builder.Owned[*batchv1.Job](seen) { ... }
func Owned[C client.Object](v View) []C { return find[C](v, sourceOwned, v.owned) }

// find returns the objects of a kind that a source has.
func find[C client.Object](v View, s source, among map[reflect.Type][]client.Object) []C {
	t := reflect.TypeFor[C]()
	objs, ok := among[t]
	if !ok {
		v.check(s, t)
	}
	return as[C](objs)
}

// Lookup returns the child of one kind and name that the owner controls, also one that is being deleted, and whether there
// is one. It is [Owned] for a plan whose children have fixed names. Of a kind with children in several namespaces it is the
// one in the first of them, by name. The object is shared with the cache.
//
//	if job, ok := builder.Lookup[*batchv1.Job](seen, owner.Name+"-migrate"); ok { ... }
//
// The kind must be one that the operator Owns, as for [Owned]. What the spec names and the owner doesn't control is [Referred].
func Lookup[C client.Object](v View, name string) (C, bool) {
	t := reflect.TypeFor[C]()
	all, ok := v.owned[t]
	if !ok {
		v.check(sourceOwned, t)
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

// Referred returns an object of one kind that the owner's spec names, in the owner's namespace, and whether it exists.
// The kind must be one that the operator Refers to; else the pass fails with ErrMisuse, which has the line to add.
func Referred[R client.Object](v View, name string) (R, bool) {
	t := reflect.TypeFor[R]()
	o, ok := v.referred[reference{t, name}].(R)
	if !ok {
		v.check(sourceReferred, t)
	}
	return o, ok
}
