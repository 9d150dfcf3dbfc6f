// Package phases brings an owner's children to their desired state phase by phase.
//
// Run is one pass. It takes a Plan: the desired children with their phases, the options, and the time. It returns a Result: the state
// of the roll-out, the children that aren't ready or are paused, the failure, the objects that must not be pruned, and the time of the
// next pass. It reads and writes through a Cluster, which package builder implements. A pass without phases doesn't call it.
//
// Read it in this order:
//
//	run.go       Run: read the revision history, then advance; which changes of a phase are made, and which wait
//	record.go    the records of a roll-out's start, completion and rollback in ControllerRevisions
//	condition.go the name of the completed revision in the owner's status
//	rollback.go  the deadline of a phase, and the rollback to the last completed revision
//	job_run.go   the Job of a RunOnce child's value
//	run_once.go  Jobs that run once for each value, and the record of the values that have run
//
// Package builder/rollout has the options and the state, which are public. Package revision has the recorded values, and package stuck
// the pods for which a StatefulSet waits forever.
//
// Invariants, which hold after a crash at any write and with a cache that lags behind:
//
//   - A roll-out is recorded before its first write, and a rollback before the first restored child. ControllerRevisions have all
//     that a later pass needs; memory has nothing.
//   - A change of a child is written when all earlier phases are up to date and ready. Drift is corrected in any phase.
//   - Only data that the builder itself has written into the revision are restored; see package revision.
//   - The success of a RunOnce Job is recorded before a later phase is written. A Job is created only if the API server, not just
//     the cache, has no record of its value.
package phases
