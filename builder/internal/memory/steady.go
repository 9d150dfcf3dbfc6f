package memory

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Steady has how far the passes of this process have brought each owner.
type Steady struct {
	of *Recent[types.UID, generations]
}

// generations are the generation of an owner's spec that a pass has carried out to its end, pruning included, and the one at which a pass
// found nothing to do. Zero: none.
type generations struct{ carriedOut, quiet int64 }

// IsCarriedOut reports whether an earlier pass has carried out the owner's spec to its end. What the plan deletes or scales down since
// then answers to what it has observed, and not to the spec or the program.
func (s *Steady) IsCarriedOut(owner client.Object) bool {
	at, ok := s.of.Get(owner.GetUID())
	return ok && at.carriedOut == owner.GetGeneration()
}

// IsQuiet reports whether an earlier pass has found nothing to do for the owner's spec, and the owner was ready. What changes since then
// has another cause than what changed before.
func (s *Steady) IsQuiet(owner client.Object) bool {
	at, ok := s.of.Get(owner.GetUID())
	return ok && at.quiet == owner.GetGeneration()
}

// Note notes a pass that has carried out the owner's spec, and whether it has found nothing to do.
func (s *Steady) Note(owner client.Object, isQuiet bool) {
	was, _ := s.of.Get(owner.GetUID())
	is := was
	is.carriedOut = owner.GetGeneration()
	if isQuiet {
		is.quiet = owner.GetGeneration()
	}
	if is != was {
		s.of.Add(owner.GetUID(), is)
	}
}

// Forget forgets an owner whose children are about to be disrupted.
func (s *Steady) Forget(owner client.Object) { s.of.Remove(owner.GetUID()) }
