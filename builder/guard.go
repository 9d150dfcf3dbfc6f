package builder

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/fasthash"
)

const (
	// guardedPasses is how many passes of a process are all looked at for changes that a plan makes to what it is given.
	guardedPasses = 64
	// guardedEvery is which of the later ones are.
	guardedEvery = 64
	// guardedObjects bounds how many of the observed objects are looked at in one pass, besides the owner.
	guardedObjects = 8
)

// guard finds plans that change their owner or an observed object. Both are shared with the cache: a changed status
// seems to be written already and never is, and other passes see what no one wrote. In tests all objects are compared with
// copies, in each pass. In a manager the owner and a few observed objects are compared by their hash, in some passes: it
// costs a few microseconds then.
type guard struct {
	copies   bool
	passes   atomic.Uint64
	reported sync.Map // reflect.Type -> struct{}: what was reported of objects of a type
}

// witness is an object as it was before the plan was made. The owner is known by isOwner, and not by its place: an owner
// that can't be hashed is among the witnesses only as a copy.
type witness struct {
	object  client.Object
	isOwner bool
	hash    uint64
	copy    client.Object // nil: by the hash
}

// before remembers what the plan is given; nil if this pass isn't looked at.
func (g *guard) before(owner client.Object, v View) []witness {
	isOwner := func(obj client.Object) bool { // it may be observed as well, as another struct with the same contents
		return obj == owner || obj.GetUID() != "" && obj.GetUID() == owner.GetUID()
	}
	if g.copies {
		witnesses := []witness{{object: owner, isOwner: true, copy: copyOf(owner)}}
		for obj := range v.objects() {
			witnesses = append(witnesses, witness{object: obj, isOwner: isOwner(obj), copy: copyOf(obj)})
		}
		return witnesses
	}
	if n := g.passes.Add(1); n > guardedPasses && n%guardedEvery != 0 {
		return nil
	}
	witnesses := make([]witness, 0, 1+guardedObjects)
	add := func(obj client.Object) bool {
		if hash, ok := fasthash.Of(obj); ok {
			witnesses = append(witnesses, witness{object: obj, isOwner: isOwner(obj), hash: hash})
		}
		return len(witnesses) < cap(witnesses)
	}
	add(owner)
	v.objects()(add)
	return witnesses
}

func copyOf(obj client.Object) client.Object { return obj.DeepCopyObject().(client.Object) }

// objects are the observed objects, in no order.
func (v View) objects() iter.Seq[client.Object] {
	return func(yield func(client.Object) bool) {
		for _, kinds := range []map[reflect.Type][]client.Object{v.owned, v.watched} {
			for _, objs := range kinds {
				for _, obj := range objs {
					if !yield(obj) {
						return
					}
				}
			}
		}
	}
}

// changed returns the witnesses whose objects were changed: the owner at most once.
func changed(witnesses []witness) []witness {
	var all []witness
	for _, w := range witnesses {
		isKnown := w.isOwner && slices.ContainsFunc(all, func(other witness) bool { return other.isOwner })
		if !isKnown && w.isChanged() {
			all = append(all, w)
		}
	}
	return all
}

// isChanged reports whether the object isn't what it was.
func (w witness) isChanged() bool {
	if w.copy != nil {
		return !reflect.DeepEqual(w.copy, w.object) && w.changedField() != ""
	}
	hash, ok := fasthash.Of(w.object)
	return ok && hash != w.hash
}

// changedField is the path of the first field that was changed; empty if it isn't known, or if JSON has no difference.
func (w witness) changedField() string {
	if w.copy == nil {
		return ""
	}
	was, errWas := runtime.DefaultUnstructuredConverter.ToUnstructured(w.copy)
	is, errIs := runtime.DefaultUnstructuredConverter.ToUnstructured(w.object)
	if errWas != nil || errIs != nil {
		return "a field that can't be written as JSON"
	}
	for _, change := range delta.Between(was, is) {
		return change.Path
	}
	return ""
}

// err names the object and the field that was changed.
func (w witness) err() error {
	what, field := "the observed object ", ""
	if w.isOwner {
		what = "the owner "
	}
	if path := w.changedField(); path != "" {
		field = ": " + path
	}
	return fmt.Errorf("%w: the plan changes %s%s%s; it is shared with the cache: change a DeepCopy, and return a status in Plan.Status",
		ErrMisuse, what, nameOf(w.object), field)
}

// isNews reports whether no object of this type was reported before.
func (g *guard) isNews(obj client.Object) bool {
	_, known := g.reported.LoadOrStore(reflect.TypeOf(obj), struct{}{})
	return !known
}
