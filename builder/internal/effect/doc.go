// Package effect has the journal of an owner's external effects, and decides what is done about each.
//
// An effect's journal is a ControllerRevision of the owner, an ordinary child of its plan. Its data name the effect, and never change.
// Two annotations have the rest: the desired state, which the builder applies as it applies any child, and the state of the
// performance, which only this package's callers write. Read it in this order:
//
//	effect.go   an effect as a plan gives it, the performers of an operator, and one call of a performer
//	journal.go  the ControllerRevision: how it is rendered and read
//	decide.go   what the next step of an effect is
//
// The functions take values and return values. They make no request: package builder makes them, in builder/effects.go, and package
// builder/effects is the public face.
//
// Invariants: The journal has the desired state before a performer is called, and the attempt, with the time of the next one. A journal
// has a finalizer, so the API server keeps it until the effect is undone. A journal has the names and versions of Secrets, and never
// their values.
package effect
