package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Child is an object that should exist, and how it is to be kept.
type Child struct {
	object    client.Object
	phase     string
	readyWhen func(client.Object) (ready bool, why string)
}

// ChildOption says how one child is to be kept. Without options a child is applied as it is wanted, as soon as the pass
// begins.
type ChildOption interface {
	applyToChild(*Child)
}

// Want says that obj should exist. It needs a name; its namespace is the owner's when empty. Fields left empty are left
// to the API server's defaults and to others: they can't be wanted empty. A field that was set in an earlier pass and
// isn't any more is removed from the cluster, if no one else has set it. The object is not changed: the controller
// reference and Armature's marks are set on a copy. Its status and what only the server sets are ignored, so that an
// object read from a cluster can be wanted.
func Want(obj client.Object, opts ...ChildOption) Child {
	c := Child{object: obj}
	for _, o := range opts {
		o.applyToChild(&c)
	}
	return c
}

// Object returns the object as it was given to [Want].
func (c Child) Object() client.Object { return c.object }
