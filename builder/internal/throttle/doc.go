// Package throttle decides when an owner has its next pass, and when its status is written. It takes owners, durations and the time,
// and returns delays. There are four, each for another cause:
//
//	Queue     many owners of one namespace   namespaces take turns
//	Backoff   a pass that failed             5 ms, doubled up to a minute
//	Passes    a large owner with many events the duration of its last passes, at most 500 ms
//	Statuses  a status that changes often    Plan.StatusCanWait
//
// Invariants: All records are in memory and limited in size. A forgotten owner, or a restart, causes no delay. A delay is at most as
// long as the table says, even if the clock is changed. A pass after the delay observes the last event before it.
package throttle
