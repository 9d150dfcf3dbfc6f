package telemetry

import "github.com/armature-dev/armature/store"

// Turns counts the owners of a controller in the roll-out of a new build. Make it with NewTurns.
type Turns struct{ waiting, inTurn, halted *Sum }

// NewTurns returns the counts of a controller.
func NewTurns(controller string) Turns {
	of := func(state string) *Sum { return newSum(rolloutOwners.WithLabelValues(controller, state)) }
	return Turns{of("waiting"), of("in_turn"), of("halted")}
}

// Set sets the state of an owner; all false: it has none.
func (t Turns) Set(owner store.Key, waiting, inTurn, halted bool) {
	t.waiting.Set(owner, "", number(waiting))
	t.inTurn.Set(owner, "", number(inTurn && !halted))
	t.halted.Set(owner, "", number(halted))
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}
