// Package record is a JobFlow's record of its nodes in its status: which have ended, and how. It prevents a node from running twice, so
// it holds whatever happens to Jobs, to the manager and to the spec.
//
// A flow may have 10,000 nodes, and its status at most 100 KiB. So the status has the ended, failed and skipped nodes as intervals of
// their indexes in the spec, and for each node that has run a hash of its name and one of what it was started with (status.nodeDigests).
// After an edit of the spec [Read] finds each recorded node by the hash of its name.
//
//	record.go  the states of the nodes, and how a status stores them
//	digest.go  what a node was started with, and which fields an edit has changed since
package record
