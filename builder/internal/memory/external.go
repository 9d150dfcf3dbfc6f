package memory

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// externalFor is how long an external state waits for its plan. It is longer than any plan before it should take.
	externalFor = time.Minute
	// maxExternal limits the states. It is lower than for the other parts of a Memory, because an author's state has any size.
	maxExternal = 1 << 10
)

// External has the external states that were observed for a plan which then had to wait. It is safe for concurrent use.
type External struct {
	of *Recent[types.UID, *ExternalState]
}

// ExternalState is the external state of an owner at a version.
type ExternalState struct {
	State   any
	version string
	at      time.Time
}

// Of returns the state that was kept for an owner. It returns nil if there is none, if the owner has changed since, or if the state is
// too old.
func (e *External) Of(owner client.Object, now time.Time) *ExternalState {
	kept, ok := e.of.Get(owner.GetUID())
	if !ok {
		return nil
	}
	age := now.Sub(kept.at)
	if kept.version != owner.GetResourceVersion() || age < 0 || age >= externalFor {
		e.Drop(owner)
		return nil
	}
	return kept
}

// Keep keeps the state that was just observed for an owner.
func (e *External) Keep(owner client.Object, state any, now time.Time) {
	e.of.Add(owner.GetUID(), &ExternalState{state, owner.GetResourceVersion(), now})
}

// Drop drops the state of an owner whose plan has it now.
func (e *External) Drop(owner client.Object) { e.of.Remove(owner.GetUID()) }
