package builder

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/inventory"
)

// Retain says that a child stays when it is no longer wanted, and when its owner goes: a claim with data. It has no
// owner reference, and is never pruned. The annotations [AnnotationOwnerKind] and [AnnotationOwner] say whose it is, by
// name: an owner of the same kind and name that comes later takes it up again. They count only as far as the builder has
// set them, by the object's managed fields. An object without them is refused with [ErrNotOwned], unless [Adopt] says to
// take it.
//
// The option may come and go. With it, a child that the owner controls is let go of: it loses its owner reference and
// stays otherwise as it is. Without it, one that was let go of has no controller, so [Adopt](IfOrphan) takes it back.
//
// Passes that its changes cause come from [Operator.NamedIn]: it isn't found by its controller. It can't be in a phase.
func Retain() ChildOption { return retain{} }

type retain struct{}

func (retain) applyToChild(c *Child) { c.change().Retain = true }

func (c Child) retained() bool { return c.how != nil && c.how.Retain }

// markRetained makes an object a child that outlives its owner.
func (p *pass) markRetained(obj client.Object) {
	annotations := with(obj.GetAnnotations(), AnnotationOwnerKind, p.ownerKey.GroupKind().String())
	obj.SetAnnotations(with(annotations, AnnotationOwner, p.ownerKey.NamespacedName().String()))
}

// ownershipOfRetained says what an object is to the owner, if a child that outlives it is wanted in its place.
func (p *pass) ownershipOfRetained(observed client.Object, former []string) inventory.Ownership {
	switch {
	case metav1.GetControllerOfNoCopy(observed) != nil:
		return inventory.OwnershipOf(observed, p.owner, p.ownerKind)
	case !p.isMarkedRetained(observed, former):
		return inventory.NotOwned
	default:
		return inventory.Present(observed)
	}
}

// checkRetain refuses what a child that outlives its owner can't be.
func (d *desired) checkRetain() error {
	switch {
	case !d.child.retained():
		return nil
	case d.child.crossNamespace:
		return fmt.Errorf("%w: %s has Retain and is CrossNamespace, where it would be deleted with it", ErrMisuse, d.key)
	case d.child.once:
		return fmt.Errorf("%w: %s has Retain, which marks it, beside CreateOnly, which leaves it as it is", ErrMisuse, d.key)
	default:
		return nil
	}
}
