package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/rollout"
)

// Child is a desired object with its options.
type Child struct {
	desired apply.Child
	run     *rollout.JobRun // by RunOnce
}

// ChildOption configures one child. Without options a child is applied as soon as the pass begins.
type ChildOption interface {
	applyToChild(*Child)
}

// Want returns a child: obj is desired. It needs a name; its namespace is the owner's when empty. Fields left empty belong
// to the API server's defaults and to other writers: only a pointer says that a field is to be empty. A field that was set in an earlier
// pass and isn't any more is removed from the cluster, if no other field manager has set it. The object is not changed: the controller
// reference, labels and annotations are set on a copy. Its status and what only the server sets are ignored, so that an
// object read from a cluster can be desired.
func Want(obj client.Object, opts ...ChildOption) Child {
	if len(opts) == 0 {
		return Child{desired: apply.Child{Object: obj}} // what options change would be allocated
	}
	c := Child{desired: apply.Child{Object: obj}}
	for _, o := range opts {
		o.applyToChild(&c)
	}
	return c
}

// Object returns the object as it was given to [Want].
func (c Child) Object() client.Object { return c.desired.Object }

// Immutable returns the child with the promise that its object, and what its options were given, will never be changed
// again. A plan that renders a child once and returns it in each pass saves most of what an unchanged child costs: its hash is
// computed once.
func (c Child) Immutable() Child {
	c.desired = c.desired.HashedOnce()
	return c
}
