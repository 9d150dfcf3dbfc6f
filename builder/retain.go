package builder

import "fmt"

// Retain keeps a child that is no longer desired, and keeps it when its owner is deleted, as a PersistentVolume's reclaim policy
// Retain keeps the volume. Use it for data, such as a PersistentVolumeClaim. The child has no owner reference and is never
// pruned. The annotations armature.dev/owner-kind and armature.dev/owner name its owner: a later owner of the same kind and name
// takes it over. They count only as far as the object's managed fields say that the builder has set them. An object without them
// is refused with [ErrNotOwned], unless [Adopt] allows it.
//
// The option can be added and removed. Added, a controlled child loses its owner reference and is otherwise unchanged. Removed,
// the child has no controller, so [Adopt] takes it back.
//
// Its changes cause passes by [Operator.Watches] with [Referencing]: it isn't found by its controller. It can't be in a phase.
func Retain() ChildOption { return retain{} }

type retain struct{}

func (retain) applyToChild(c *Child) { c.change().Retain = true }

func (c Child) retained() bool { return c.how != nil && c.how.Retain }

// checkRetain refuses options that contradict Retain.
func (d *desired) checkRetain() error {
	switch {
	case !d.child.retained():
		return nil
	case d.child.crossNamespace:
		return fmt.Errorf("%w: %s has Retain and CrossNamespace, which deletes it with its owner", ErrMisuse, d.key)
	case d.child.once:
		return fmt.Errorf("%w: %s has Retain, which marks it, beside CreateOnly, which leaves it as it is", ErrMisuse, d.key)
	default:
		return nil
	}
}
