package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/fasthash"
)

// Child is an object that should exist, and how it is to be kept.
type Child struct {
	object    client.Object
	how       *keeping // nil: by the defaults
	phase     string
	readyWhen func(client.Object) Readiness
	frozen    *frozen
	elsewhere bool
	once      bool
	run       *run // by RunOnce
}

// keeping is what options say about a child. What it exports goes into the hash by which a child is recognized as the
// one that was wanted before.
type keeping struct {
	Ignored       []string
	EnvOf         []any // what HashFrom was given
	AnnotationOf  []any
	AdoptOrphan   bool
	AdoptLabels   map[string]string
	Former        []string // field managers
	KeepImmutable bool
	Recreate      *Recreate
	Outlives      bool
}

// change returns what options have said so far, to say more.
func (c *Child) change() *keeping {
	if c.how == nil {
		c.how = &keeping{}
	}
	return c.how
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
	if len(opts) == 0 {
		return Child{object: obj} // what options change would be allocated
	}
	c := Child{object: obj}
	for _, o := range opts {
		o.applyToChild(&c)
	}
	return c
}

// hash tells, within this process, a child from one that is wanted otherwise. It returns false if it can't.
func (c Child) hash() (uint64, bool) {
	if c.frozen == nil {
		return c.computeHash()
	}
	c.frozen.once.Do(func() { c.frozen.hash, c.frozen.ok = c.computeHash() })
	return c.frozen.hash, c.frozen.ok
}

func (c Child) computeHash() (uint64, bool) {
	if c.how == nil {
		return fasthash.Of(c.object)
	}
	return fasthash.Of(&struct {
		Object client.Object
		How    *keeping
	}{c.object, c.how})
}

// Object returns the object as it was given to [Want].
func (c Child) Object() client.Object { return c.object }
