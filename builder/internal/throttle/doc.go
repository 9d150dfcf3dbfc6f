// Package throttle decides when an owner has its next pass, and when its status is written. It takes owners, durations and the time, and
// returns delays. There are four, each for another cause:
//
//	Queue     many owners of one namespace   namespaces take turns
//	Backoff   a pass that failed             5 ms, doubled up to a minute
//	Passes    a large owner with many events the duration of its last passes, at most 500 ms
//	Statuses  a status that changes often    Plan.StatusCanWait
//
// Invariants: all is in memory and bounded; to forget an owner, or to restart, means that it isn't delayed. A delay is at most as long
// as the table says, whatever the clock does, and the last event before it is always seen by a pass after it.
package throttle
