package rollout

import "time"

// State is the state of a roll-out.
type State string

const (
	// Installing is the state before the first completed revision. The builder applies all phases at once, or one by one with
	// InstallInOrder.
	Installing State = "Installing"
	// Progressing is the state while the builder rolls out a revision, phase by phase.
	Progressing State = "Progressing"
	// Completed is the state after all phases of the desired revision were ready.
	Completed State = "Completed"
	// RolledBack is the state after the desired revision did not become ready in time: the builder restores the children of the revision
	// before.
	RolledBack State = "RolledBack"
)

// Status is the state of the roll-out of an owner's phases.
type Status struct {
	State State
	// From is the last completed revision, the name of a ControllerRevision; empty at the first install.
	From string
	// Before is the revision that was completed before From, if it is still in the revision history. Only View.Rollout returns it.
	Before string
	// To is the desired revision. It equals From after its completion.
	To string
	// Phase is the first phase that isn't ready; empty if all are, or during a first install without an order.
	Phase string
	// StartedAt is when the roll-out to To began; zero during a first install without an order.
	StartedAt time.Time
	// FinishedAt is when the roll-out was completed or rolled back; zero before.
	FinishedAt time.Time
	// RollsBackAt is when the builder rolls back if the phase isn't ready; zero for never. View.Rollout doesn't know it.
	RollsBackAt time.Time
	// Message is why the builder rolled back; a few hundred bytes at most.
	Message string
}
