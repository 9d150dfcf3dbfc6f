package plancheck

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
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fasthash"
)

const (
	// guardedPasses is the number of a process's first passes that are all checked.
	guardedPasses = 64
	// guardedEvery is the interval of the checked passes after that.
	guardedEvery = 64
	// guardedObjects limits the observed objects, besides the owner, that are checked in one pass.
	guardedObjects = 8
)

// Guard finds plans that change their owner or an observed object, and selects the passes that call the plan a second time, because it
// must return the same children. The cache shares both: a changed status in it seems to be written
// already and never is, and other passes read values that nobody wrote. With Copies, in tests, it compares all objects with copies, in
// each pass. Without, in a manager, it compares the owner and a few observed objects by their hash, in some passes, which costs a few
// microseconds. The zero value is ready for use. It is safe for concurrent use.
type Guard struct {
	Copies bool

	passes   atomic.Uint64
	reported sync.Map // reflect.Type -> struct{}
}

// Witness is an object as it was before the plan ran.
type Witness struct {
	Object client.Object

	isOwner bool // the position doesn't show it: an owner without a hash is among the witnesses only as a copy
	hash    uint64
	copy    client.Object // nil: compared by the hash
}

// Before returns the witnesses of a pass, nil if this pass isn't checked, and whether to call the plan a second time.
func (g *Guard) Before(owner client.Object, observed iter.Seq[client.Object]) (witnesses []Witness, repeat bool) {
	isOwner := func(obj client.Object) bool { // it may be observed as well, as another struct with the same contents
		return obj == owner || obj.GetUID() != "" && obj.GetUID() == owner.GetUID()
	}
	if g.Copies {
		witnesses = []Witness{{Object: owner, isOwner: true, copy: copyOf(owner)}}
		for obj := range observed {
			witnesses = append(witnesses, Witness{Object: obj, isOwner: isOwner(obj), copy: copyOf(obj)})
		}
		return witnesses, true
	}
	n := g.passes.Add(1)
	repeat = n%guardedEvery == 0
	if n > guardedPasses && !repeat {
		return nil, false
	}
	witnesses = make([]Witness, 0, 1+guardedObjects)
	add := func(obj client.Object) bool {
		if hash, ok := fasthash.Of(obj); ok {
			witnesses = append(witnesses, Witness{Object: obj, isOwner: isOwner(obj), hash: hash})
		}
		return len(witnesses) < cap(witnesses)
	}
	add(owner)
	observed(add)
	return witnesses, repeat
}

func copyOf(obj client.Object) client.Object { return obj.DeepCopyObject().(client.Object) }

// Changed returns the witnesses whose objects the plan has changed, the owner at most once.
func Changed(witnesses []Witness) []Witness {
	var all []Witness
	for _, w := range witnesses {
		isKnown := w.isOwner && slices.ContainsFunc(all, func(other Witness) bool { return other.isOwner })
		if !isKnown && w.isChanged() {
			all = append(all, w)
		}
	}
	return all
}

// isChanged reports whether the object has changed.
func (w Witness) isChanged() bool {
	if w.copy != nil {
		return !reflect.DeepEqual(w.copy, w.Object) && w.changedField() != ""
	}
	hash, ok := fasthash.Of(w.Object)
	return ok && hash != w.hash
}

// changedField returns the path of the first changed field; empty if it isn't known, or if JSON has no difference.
func (w Witness) changedField() string {
	if w.copy == nil {
		return ""
	}
	return firstDifference(w.copy, w.Object)
}

// firstDifference returns the path of the first field in which two objects differ; empty if their JSON doesn't.
func firstDifference(a, b client.Object) string {
	before, errBefore := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	after, errAfter := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if errBefore != nil || errAfter != nil {
		return "a field that can't be written as JSON"
	}
	for _, change := range delta.Between(before, after) {
		return change.Path
	}
	return ""
}

// Err returns an error that names the object and the changed field.
func (w Witness) Err() error {
	what, field := "the observed object ", ""
	if w.isOwner {
		what = "the owner "
	}
	if path := w.changedField(); path != "" {
		field = ": " + path
	}
	return fmt.Errorf("%w: the plan (or its Finish) changes %s%s%s; it is shared with the cache: change a DeepCopy, and return a status "+
		"in Plan.Status",
		failure.ErrMisuse, what, nameOf(w.Object), field)
}

// IsNews reports whether no object of this Go type was reported before.
func (g *Guard) IsNews(obj client.Object) bool {
	_, known := g.reported.LoadOrStore(reflect.TypeOf(obj), struct{}{})
	return !known
}
