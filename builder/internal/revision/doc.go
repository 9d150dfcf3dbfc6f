// Package revision has the state of a roll-out as values, and the functions on it. Package phases walks through the phases, and reads
// and writes the cluster. Package former keeps other records in ControllerRevisions, with Objects.
//
// It takes ControllerRevisions as they were read, desired children as they are sent (Child), and the time. It returns
//
//   - the revision history (History): which revision was completed last, which is the target, which are stale
//   - the record of one roll-out (Record), the value of an annotation of its ControllerRevision
//   - the data of a revision (Snapshot), and its hash
//   - the record of the values for which a RunOnce child has run (Runs)
//
// Only Objects makes requests: it reads the ControllerRevisions of an owner, and makes those to create. No other function does, and none
// reads a clock or changes an argument.
//
// Invariants:
//
//   - The hash in the name of a revision identifies its data, so that only data that the builder wrote are ever restored.
//   - The annotation or the data of a ControllerRevision has all that a later pass needs: a restart loses nothing.
package revision
