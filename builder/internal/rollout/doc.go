// Package rollout brings an owner's children to their desired state phase by phase.
//
// Run is one pass. It takes a Plan: the desired children with their phases, the options, and the time. It returns a Result: the state of
// the roll-out, the children that aren't ready or are paused, what has failed, which objects must not be pruned, and when to look again.
// It reads and writes through a Cluster, which package builder implements. A pass without phases doesn't get here.
//
// Read it in this order:
//
//	rollout.go   Run: read the revision history, then advance; which changes of a phase are made, and which wait
//	record.go    the records of a roll-out's start, completion and rollback in ControllerRevisions
//	rollback.go  what happens when a phase isn't ready in time, and the way back to the last completed revision
//	run_once.go  Jobs that run once for each value, and the record of the values that have run
//
// Package revision has the values that are recorded, and package stuck the pods that a StatefulSet waits for without end.
//
// Invariants, which hold after a crash at any write and with a cache that lags behind:
//
//   - A roll-out is recorded before its first write, and a rollback before the first child is restored. All that a later pass needs is in
//     ControllerRevisions, and nothing in memory.
//   - A change of a child is written when all earlier phases are up to date and ready. Drift is corrected in any phase.
//   - Nothing is restored but what the builder itself has written into the revision; see package revision.
//   - The success of a RunOnce Job is recorded before anything that follows is written, and a Job is created only if the API server, not
//     just the cache, has no record of its value.
package rollout
