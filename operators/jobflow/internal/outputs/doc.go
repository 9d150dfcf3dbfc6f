// Package outputs has the outputs of a JobFlow's nodes that other nodes read: what a container of a node's Job wrote as its termination
// message.
//
// A [Set] takes the outputs that a status records, and the pods of Jobs that have succeeded. It returns the values that inputs, items and
// expressions read, and the outputs to record.
//
// Invariants: an output that is recorded, or recorded as lost, stays so until a retry runs its node again, whatever happens to the pods.
// So all nodes that read an output read the same value. The recorded outputs stay within a size that the caller gives.
package outputs
