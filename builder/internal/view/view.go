package view

import (
	"encoding/json"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/plancheck"
)

// Observed is the content of a builder.View. The zero value is empty.
type Observed struct {
	// External is the state of something outside the cluster.
	External any
	// Asked records requests for undeclared kinds. Nil: any kind may be requested.
	Asked *plancheck.Asked

	owned, watched byType
}

// byType has the objects of each Go type, in order.
type byType map[reflect.Type][]client.Object

// Edit returns a copy of a builder.View with edited content. Package builder sets it and buildertest calls it. Only tests and the
// builder make views, so no exported function of builder does.
var Edit func(view any, edit func(*Observed)) any

// Of returns a view of children.
func Of(children iter.Seq[client.Object]) Observed {
	o := Observed{owned: sorted(children)}
	for _, objs := range o.owned {
		sortByName(objs)
	}
	return o
}

// sorted groups objects by their type. It doesn't order them.
func sorted(objs iter.Seq[client.Object]) byType {
	all := byType{}
	for obj := range objs {
		t := reflect.TypeOf(obj)
		all[t] = append(all[t], obj)
	}
	return all
}

// Add adds objects of one Go type and takes over their slice.
func (o *Observed) Add(from plancheck.Origin, t reflect.Type, objs []client.Object) {
	at := &o.owned
	if from == plancheck.Watched {
		at = &o.watched
	}
	if *at == nil {
		*at = byType{}
	}
	there := (*at)[t]
	if len(there) > 0 {
		objs = append(slices.Clone(there), objs...)
	}
	sortByName(objs)
	if len(there) > 0 && from == plancheck.Watched {
		objs = slices.CompactFunc(objs, func(a, b client.Object) bool {
			return a.GetName() == b.GetName() && a.GetNamespace() == b.GetNamespace()
		})
	}
	(*at)[t] = objs
}

// Watch adds watched objects of any types. It doesn't change the Observed of which this one is a copy.
func (o *Observed) Watch(objs iter.Seq[client.Object]) {
	o.watched = maps.Clone(o.watched)
	for t, of := range sorted(objs) {
		o.Add(plancheck.Watched, t, of)
	}
}

// sortByName orders objects. Within a kind each object has its own name; objects without a Go type may be of several kinds.
func sortByName(objs []client.Object) {
	if len(objs) < 2 {
		return
	}
	type named struct {
		name, namespace string
		object          client.Object
	}
	all := make([]named, len(objs)) // to read each name once
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

// Children returns the owned objects, in no order.
func (o *Observed) Children() iter.Seq[client.Object] { return o.owned.all() }

// Others returns the watched objects, in no order.
func (o *Observed) Others() iter.Seq[client.Object] { return o.watched.all() }

func (of byType) all() iter.Seq[client.Object] {
	return func(yield func(client.Object) bool) {
		for _, objs := range of {
			for _, obj := range objs {
				if !yield(obj) {
					return
				}
			}
		}
	}
}

// Objects returns all objects, in no order.
func (o *Observed) Objects() iter.Seq[client.Object] {
	return func(yield func(client.Object) bool) {
		for _, types := range []byType{o.owned, o.watched} {
			for _, objs := range types {
				for _, obj := range objs {
					if !yield(obj) {
						return
					}
				}
			}
		}
	}
}

// Owned returns the children of one kind, and the objects of it that children control.
func Owned[C client.Object](o Observed) []C { return find[C](o, plancheck.Owned, o.owned) }

// Watched returns the watched objects of one kind, or of all kinds that implement an interface.
func Watched[W client.Object](o Observed) []W {
	t := reflect.TypeFor[W]()
	if t.Kind() != reflect.Interface {
		return find[W](o, plancheck.Watched, o.watched)
	}
	o.Asked.Interface(t)
	var objs []W
	byName := func(a, b reflect.Type) int { return strings.Compare(a.String(), b.String()) }
	for _, of := range slices.SortedFunc(maps.Keys(o.watched), byName) {
		if of.Implements(t) {
			objs = append(objs, as[W](o.watched[of])...)
		}
	}
	return objs
}

func find[C client.Object](o Observed, from plancheck.Origin, among byType) []C {
	t := reflect.TypeFor[C]()
	objs, ok := among[t]
	if !ok {
		o.Asked.Kind(from.String(), from, t)
	}
	return as[C](objs)
}

// Lookup returns the object of one kind and name: the child, or if the operator doesn't own the kind, the watched object.
func Lookup[C client.Object](o Observed, name string) (C, bool) {
	t := reflect.TypeFor[C]()
	all, ok := o.owned[t]
	if !ok && !o.Asked.Declares(plancheck.Owned, t) {
		if all, ok = o.watched[t]; !ok && !o.Asked.Declares(plancheck.Watched, t) {
			o.Asked.Kind("Lookup", plancheck.Owned, t)
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

// Recorded is an external state as JSON. It becomes any S that it fits, unless S is an interface: nothing shows which type was behind it.
type Recorded []byte

// External returns the external state, and whether it is an S.
func External[S any](o Observed) (S, bool) {
	var s S
	t := reflect.TypeFor[S]()
	if recorded, is := o.External.(Recorded); is {
		if t.Kind() == reflect.Interface {
			o.Asked.Recorded(t)
			return s, false
		}
		err := json.Unmarshal(recorded, &s)
		return s, err == nil
	}
	s, ok := o.External.(S)
	if !ok {
		o.Asked.External(t, o.External)
	}
	return s, ok
}

// as returns objects with their Go type.
func as[C client.Object](objs []client.Object) []C {
	typed := make([]C, len(objs))
	for i, o := range objs {
		typed[i] = o.(C)
	}
	return typed
}
