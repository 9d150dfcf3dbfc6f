package plancheck

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
)

// CheckIdentities returns an error for children that can't be the owner's, whatever the cluster has. It is for tests without a cluster:
// the builder finds the same errors by the kinds' scopes, before it writes anything.
func CheckIdentities(owner client.Object, children []Child) error {
	var errs []error
	known := map[identity]bool{}
	for _, c := range children {
		if kinds.IsNil(c.Object) {
			errs = append(errs, fmt.Errorf("%w: an object is nil (%T)", failure.ErrMisuse, c.Object))
			continue
		}
		id := identityOf(c.Object, owner)
		home := owner.GetNamespace()
		switch controller := metav1.GetControllerOfNoCopy(c.Object); {
		case id.Name == "":
			errs = append(errs, fmt.Errorf("%w: metadata.name of %s is empty; a child needs a fixed name (generateName would make a twin in "+
				"each pass)", failure.ErrMisuse, nameOf(c.Object)))
		case known[id]:
			errs = append(errs, fmt.Errorf("%w: %s is desired twice", failure.ErrMisuse, nameOf(c.Object)))
		case home != "" && id.Namespace != home && !c.CrossNamespace:
			errs = append(errs, fmt.Errorf("%w: metadata.namespace of %s must be that of its owner, %s; see CrossNamespace",
				failure.ErrMisuse, nameOf(c.Object), home))
		case controller != nil && controller.UID != owner.GetUID():
			errs = append(errs, fmt.Errorf("%w: metadata.ownerReferences of %s has a controller, %s %s; it shall be the owner, %s",
				failure.ErrMisuse, nameOf(c.Object), controller.Kind, controller.Name, nameOf(owner)))
		}
		known[id] = true
		if len(errs) == maxErrs {
			break
		}
	}
	return errors.Join(errs...)
}

// Existing returns the children of which there is an observed object.
func Existing(owner client.Object, children []Child, observed iter.Seq[client.Object]) []Child {
	known := map[identity]bool{}
	for obj := range observed {
		known[identityOf(obj, owner)] = true
	}
	return slices.DeleteFunc(slices.Clone(children), func(c Child) bool {
		return kinds.IsNil(c.Object) || !known[identityOf(c.Object, owner)]
	})
}

// CheckRepeated returns an error for a child that has another value each time that the plan is called. first are the children of the first
// call; again calls the plan for a later time, and returns false if it fails. A plan without such a child is called once more.
func CheckRepeated(owner client.Object, first []Child, again func(after time.Duration) ([]Child, bool)) error {
	later, ok := again(time.Second)
	if !ok || len(differences(owner, first, later)) == 0 {
		return nil
	}
	// Something differs: because of the time, which it may, but not each second; or in any case.
	second, ok := again(0)
	evenLater, okLater := again(2 * time.Second)
	if !ok || !okLater {
		return nil
	}
	if err := repeated(owner, first, second); err != nil {
		return err
	}
	return timeless(owner, first, later, evenLater)
}

// repeated returns an error for a child that a second call of the plan, with the same arguments, returned otherwise.
func repeated(owner client.Object, first, second []Child) error {
	found := differences(owner, first, second)
	for _, id := range sorted(found) {
		return fmt.Errorf("%w: the plan isn't pure: called again with the same arguments, %s %s; let it depend on nothing but the owner and the "+
			"view: no clock, no random number, no order of a map, no memory; a password that is made up once needs CreateOnly",
			failure.ErrMisuse, id, found[id])
	}
	return nil
}

// timeless returns an error for a child that has another value each second, by the calls of the plan for three times.
func timeless(owner client.Object, now, later, evenLater []Child) error {
	before, after := differences(owner, now, later), differences(owner, later, evenLater)
	for _, id := range sorted(after) {
		if before[id] == after[id] && after[id] != onlyOnce { // a child may come with its time
			return fmt.Errorf("%w: %s %s each second, so that the builder would write it in each pass; leave View.Now out of the child",
				failure.ErrMisuse, id, after[id])
		}
	}
	return nil
}

// onlyOnce is the difference of a child that only one of two calls returned.
const onlyOnce = "is a child only once"

// sorted returns the keys of differences, so that the same plan has the same error.
func sorted(found map[identity]string) []identity {
	return slices.SortedFunc(maps.Keys(found), func(a, b identity) int { return strings.Compare(a.String(), b.String()) })
}

// differences returns how the children of two calls of a plan differ. Each write of such a child would cause the next pass.
func differences(owner client.Object, first, second []Child) map[identity]string {
	different := map[identity]string{}
	other := map[identity]client.Object{}
	for _, c := range second {
		if !c.Initial && !kinds.IsNil(c.Object) {
			other[identityOf(c.Object, owner)] = c.Object
			different[identityOf(c.Object, owner)] = onlyOnce
		}
	}
	for _, c := range first {
		if c.Initial || kinds.IsNil(c.Object) {
			continue
		}
		id := identityOf(c.Object, owner)
		again, ok := other[id]
		if !ok {
			different[id] = onlyOnce
			continue
		}
		delete(different, id)
		if again == c.Object || reflect.DeepEqual(c.Object, again) {
			continue
		}
		if path := firstDifference(c.Object, again); path != "" {
			different[id] = "has another " + path
		}
	}
	return different
}

// identity tells children apart.
type identity struct {
	kind any // the Go type, or the group and kind of an object whose type doesn't determine it
	types.NamespacedName
}

// String returns a name for errors.
func (id identity) String() string { return fmt.Sprintf("%v %s", id.kind, id.NamespacedName) }

func identityOf(obj, owner client.Object) identity {
	id := identity{reflect.TypeOf(obj), client.ObjectKeyFromObject(obj)}
	if !isOfKind(obj) {
		id.kind = obj.GetObjectKind().GroupVersionKind().GroupKind()
	}
	if id.Namespace == "" {
		id.Namespace = owner.GetNamespace()
	}
	return id
}
