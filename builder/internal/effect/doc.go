// Package effect performs an owner's external effects, and keeps their journal.
//
// An effect's journal is a ControllerRevision of the owner, an ordinary child of its plan. Its data name the effect, and never change.
// Two annotations have the rest: the desired state, which the builder applies as it applies any child, and the state of the
// performance, which only this package writes. Read it in this order:
//
//	effect.go   an effect as a plan gives it, the performers of an operator, and one call of a performer
//	check.go    the errors of a plan's effects and of an operator's performers
//	journal.go  the ControllerRevision: how it is rendered and read
//	steps.go    the effects of a pass, in the order of their steps
//	decide.go   what the next step of an effect is
//	perform.go  the step: the requests, and the calls of performers
//
// It takes what a pass desires, observes and has written, and returns what each effect waits for, and when the next step is due. Package
// builder gives it that, in builder/effects.go. Package builder/effects is the public face.
//
// Invariants: The journal has the desired state before a performer is called, and the attempt, with the time of the next one. A journal
// has a finalizer, so the API server keeps it until the effect is undone. A journal has the names and versions of Secrets, and never
// their values.
package effect
