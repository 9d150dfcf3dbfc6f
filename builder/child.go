package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Child is an object that should exist, and how it is to be kept.
type Child struct {
	object client.Object
}

// Want says that obj should exist. Fields left empty are left to the API server and to others. The object is not
// changed: the namespace (the owner's, when empty), the controller reference and Armature's marks are set on a copy.
func Want(obj client.Object) Child {
	return Child{object: obj}
}

// Object returns the object as it was given to [Want].
func (c Child) Object() client.Object { return c.object }
