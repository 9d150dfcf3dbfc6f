package builder

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Frozen returns the child with the promise that its object, and what its options were given, will never be changed
// again. Whoever wants the very same child in each pass, such as a plan that renders a spec once and keeps the result,
// saves most of what an unchanged child costs: its hash is computed once.
func (c Child) Frozen() Child {
	c.frozen = &frozen{}
	return c
}

// frozen is the hash of a child that doesn't change. All copies of the child share it.
type frozen struct {
	once sync.Once
	hash uint64
	ok   bool
}

// With returns the child with more options. The child itself stays as it is.
func (c Child) With(opts ...ChildOption) Child {
	c.frozen = nil
	if how := c.how; how != nil {
		more := *how
		more.Ignored, more.EnvOf, more.AnnotationOf = clipped(how.Ignored), clipped(how.EnvOf), clipped(how.AnnotationOf)
		c.how = &more
	}
	for _, o := range opts {
		o.applyToChild(&c)
	}
	return c
}

// Of returns the child with another object in place of its own, kept by the same options.
func (c Child) Of(obj client.Object) Child {
	c.object, c.frozen = obj, nil
	return c
}

// clipped returns a slice to which can be appended without a trace in the one that it is of.
func clipped[T any](s []T) []T { return s[:len(s):len(s)] }
