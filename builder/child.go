package builder

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/fasthash"
	"github.com/armature-dev/armature/builder/internal/rollout"
	"github.com/armature-dev/armature/builder/readiness"
)

// Child is a desired object with its options.
type Child struct {
	object         client.Object
	how            *keeping // nil: by the defaults
	phase          string
	readyWhen      func(client.Object) readiness.Status
	immutable      *immutableHash
	crossNamespace bool
	once           bool
	run            *rollout.JobRun // by RunOnce
}

// keeping is what options say about a child. What it exports goes into the hash by which a child is recognized as the
// one of an earlier pass.
type keeping struct {
	Ignored       []string
	ConfigOf      []any // what HashFrom was given
	AdoptOrphan   bool
	AdoptLabels   map[string]string
	Former        []string // field managers
	KeepImmutable bool
	Recreate      *Recreate
	Retain        bool
}

// change returns what options have said so far, to say more.
func (c *Child) change() *keeping {
	if c.how == nil {
		c.how = &keeping{}
	}
	return c.how
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
		return Child{object: obj} // what options change would be allocated
	}
	c := Child{object: obj}
	for _, o := range opts {
		o.applyToChild(&c)
	}
	return c
}

// hash identifies, within this process, a child and its options. It returns false if it can't.
func (c Child) hash() (uint64, bool) {
	if c.immutable == nil {
		return c.computeHash()
	}
	c.immutable.once.Do(func() { c.immutable.hash, c.immutable.ok = c.computeHash() })
	return c.immutable.hash, c.immutable.ok
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

// Immutable returns the child with the promise that its object, and what its options were given, will never be changed
// again. A plan that renders a child once and returns it in each pass saves most of what an unchanged child costs: its hash is
// computed once.
func (c Child) Immutable() Child {
	c.immutable = &immutableHash{}
	return c
}

// immutableHash is the hash of a child that doesn't change. All copies of the child share it.
type immutableHash struct {
	once sync.Once
	hash uint64
	ok   bool
}

// with returns the child with more options. The child itself stays as it is.
func (c Child) with(opts ...ChildOption) Child {
	c.immutable = nil
	if how := c.how; how != nil {
		more := *how
		more.Ignored, more.ConfigOf = clipped(how.Ignored), clipped(how.ConfigOf)
		c.how = &more
	}
	for _, o := range opts {
		o.applyToChild(&c)
	}
	return c
}

// clipped returns a slice to which can be appended without a trace in the one that it is of.
func clipped[T any](s []T) []T { return s[:len(s):len(s)] }
