package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/builder/internal/phases"
)

// Child is a desired object with its options.
type Child struct {
	desired apply.Child
	run     *phases.JobRun  // by RunOnce
	effect  *effect.Desired // of a journal of an effect; see package effects
}

// ChildOption configures one child. Default, without options: the builder applies the child at the beginning of the pass.
type ChildOption interface {
	applyToChild(*Child)
}

// childOption is an option as a function.
type childOption func(*Child)

func (f childOption) applyToChild(c *Child) { f(c) }

// Want returns a desired child. The object needs a name. Default namespace: the owner's. Empty fields belong to the API server's
// defaults and to other writers; to set a field to its zero value, use a pointer. If an earlier pass set a field and the object no
// longer sets it, the builder removes the field from the cluster, unless another field manager has set it too. The builder doesn't
// change the object: it sets the controller reference, labels and annotations on a copy. It ignores the status and fields that only
// the server sets, so that an object read from a cluster can be desired. An option that is nil has no effect.
func Want(obj client.Object, opts ...ChildOption) Child {
	if len(opts) == 0 {
		return Child{desired: apply.Child{Object: obj}} // a variable that options change would be allocated
	}
	c := Child{desired: apply.Child{Object: obj}}
	for _, o := range opts {
		if o != nil {
			o.applyToChild(&c)
		}
	}
	return c
}

// Object returns the object that was given to [Want].
func (c Child) Object() client.Object { return c.desired.Object }

// Immutable returns the child with the promise that nobody changes its object, or the arguments of its options, afterwards. Use it in
// a plan that renders a child once and returns it in each pass: the builder then computes the child's hash once, which is most of the
// cost of an unchanged child.
func (c Child) Immutable() Child {
	c.desired = c.desired.HashedOnce()
	return c
}
