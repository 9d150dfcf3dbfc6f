// Package former has the state to which an undo returns: of the children that a change disrupts, the fields that the builder had applied
// before it. state.go has it as a value, fields.go says which fields it has, record.go keeps it in the cluster,
// condition.go its name in the owner's status, and undone.go says there how far the owner has returned to it.
//
// A [State] is the data of a ControllerRevision. Its name has a hash of its content, as the revisions of package revision do, and the
// owner's status has the name: so only a state that the builder kept is ever restored. Values of Secrets are never part of it.
//
// Invariant: a kept state is never changed. A state with more children is a new one, with another name, and the status names it before
// these children change.
package former
