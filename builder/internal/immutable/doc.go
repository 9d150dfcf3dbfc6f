// Package immutable decides whether a refused change is one of an immutable field, and whose change it is.
//
// That the API server calls a change invalid is no proof that a field is immutable: the desired object may be invalid altogether. So the
// builder has a new object tried in a dry run. This package makes the trial's name and takes out of it what only one object can have, and
// reads a refusal: which fields the API server refuses to change, and which of them another writer has changed.
//
// Functions take the causes of a refusal, objects as decoded from JSON, and what package merge found between them; they return field paths
// and values. They change only the trial. Invariant: a field that another writer has changed, or by which another writer has sealed the
// object, is reported as theirs, so that the object isn't deleted for it.
package immutable
