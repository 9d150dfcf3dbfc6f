package builder

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Outlives says that a child stays when it is no longer wanted, and when its owner goes: a claim with data. It has no
// owner reference, and is never pruned. The annotations [AnnotationOwnerKind] and [AnnotationOwner] say whose it is, by
// name: an owner of the same kind and name that comes later takes it up again. They count only as far as the builder has
// set them, by the object's managed fields. An object without them is refused with [ErrNotOwned], unless [Adopt] says to
// take it.
//
// The option may come and go. With it, a child that the owner controls is let go of: it loses its owner reference and
// stays otherwise as it is. Without it, one that was let go of has no controller, so [Adopt] takes it back.
//
// Passes that its changes cause come from [Operator.NamedIn]: it isn't found by its controller. It can't be in a phase.
func Outlives() ChildOption { return outlives{} }

type outlives struct{}

func (outlives) applyToChild(c *Child) { c.change().Outlives = true }

func (c Child) outlives() bool { return c.how != nil && c.how.Outlives }

// markOutliving makes an object a child that outlives its owner.
func (p *pass) markOutliving(obj client.Object) {
	annotations := with(obj.GetAnnotations(), AnnotationOwnerKind, p.ownerKey.GroupKind().String())
	obj.SetAnnotations(with(annotations, AnnotationOwner, p.ownerKey.NamespacedName().String()))
}

// ownershipOfOutliving says what an object is to the owner, if a child that outlives it is wanted in its place.
func (p *pass) ownershipOfOutliving(found client.Object, former []string) ownership {
	switch {
	case metav1.GetControllerOfNoCopy(found) != nil:
		return ownershipOf(found, p.owner, p.ownerKind)
	case !p.isMarkedOutliving(found, former):
		return foreign
	case found.GetDeletionTimestamp() != nil:
		return leaving
	default:
		return ours
	}
}

// checkOutlives refuses what a child that outlives its owner can't be.
func (d *desired) checkOutlives() error {
	switch {
	case !d.child.outlives():
		return nil
	case d.child.elsewhere:
		return fmt.Errorf("%w: %s Outlives its owner and is Elsewhere, where it would be deleted with it", ErrMisuse, d.key)
	case d.child.once:
		return fmt.Errorf("%w: %s Outlives its owner, which marks it, beside CreateOnce, which leaves it as it is", ErrMisuse, d.key)
	default:
		return nil
	}
}
