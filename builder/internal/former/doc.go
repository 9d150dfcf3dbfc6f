// Package former has the state to which an undo returns: of the children that a change disrupts, the fields that the builder had applied
// before it. They are values and functions on them; package builder reads and writes the cluster.
//
// A [State] is the data of a ControllerRevision. Its name has a hash of its content, as the revisions of package revision do, and the
// owner's status has the name: so only a state that the builder kept is ever restored. Values of Secrets are never part of it.
package former
