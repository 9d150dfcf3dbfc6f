// Package immutable decides whether a refused change is one of an immutable field, and which writer made the change.
//
// An answer Invalid doesn't prove that a field is immutable, because the desired object may be invalid itself. So the builder creates
// a new object in a dry run. This package makes the name of that trial and removes the values that only one object can have. It also
// reads a refusal: which fields the API server refuses to change, and which of them another writer has changed.
//
// Functions take the causes of a refusal, objects as decoded from JSON, and the differences of package merge between them. They return
// field paths and values. They change only the trial.
//
// Invariant: a field that another writer has changed, or by which another writer has made the object immutable, is reported as the other
// writer's, so that the builder doesn't delete the object for it.
package immutable
