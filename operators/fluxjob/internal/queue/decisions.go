package queue

import "time"

// Decisions are what is to be done.
type Decisions struct {
	// Admitted are the indexes of the jobs that get their share, in the order in which they got it.
	Admitted []int
	// Evicted are the holders that must go. They hold their share until they are gone.
	Evicted []Eviction
	// Waiting has, for each setup, the indexes of the jobs that go on waiting, the next first. Those whose
	// reason is ExceedsMaximum are not among them.
	Waiting [][]int
	// Why has, for each job, why it waits.
	Why []Why
	// Balance has, for each setup, what it has once the admitted have their shares.
	Balance []Balance
	// Next is when to decide again even if nothing changes. Zero: never.
	Next time.Time
}

// Balance is what a setup has.
type Balance struct {
	// Used is what its holders hold, terminating ones included.
	Used Amounts
	// Free is what it could give now, of its own and of what it can borrow. It is Unlimited for what isn't counted.
	Free Amounts
	// Maximum is what it could give to one job if nothing were used.
	Maximum Amounts
}

// Eviction is a holder that must go, and why.
//
// The holders that are preempted for a job are chosen so that their highest priority is as low as can be; among those
// that come into question then, as few as can be found, and rather those of low priority and the newest. None of them
// could be left out.
type Eviction struct {
	// Holder is the index of the holder.
	Holder int
	// Cause is why.
	Cause Cause
	// For is the index of the job that gets the quota, -1 if Cause isn't Preempted.
	For int
}

// Cause is why a holder must go.
type Cause int

// The causes of evictions.
const (
	// Preempted: a job of higher priority needs the quota.
	Preempted Cause = iota
	// NotReady: its pods weren't ready in time.
	NotReady
	// Drained: its setup drains.
	Drained
)

// Reason is why a job waits.
type Reason int

// The reasons of waiting.
const (
	// None: the job was admitted.
	None Reason = iota
	// WaitingForQuota: there isn't enough left of a resource.
	WaitingForQuota
	// Preempting: there will be enough once the pods of preempted jobs have terminated.
	Preempting
	// BlockedByHead: the queue is StrictFIFO, and a job before this one waits.
	BlockedByHead
	// Backoff: it was evicted, and has to wait for a while.
	Backoff
	// Stopped: the setup admits no job.
	Stopped
	// ExceedsMaximum: it needs more of a resource than it could have if nothing else ran.
	ExceedsMaximum
)

// Why is why a job waits.
type Why struct {
	Reason Reason
	// Resource is the index of the resource that there isn't enough of, if the Reason is WaitingForQuota or ExceedsMaximum.
	Resource int
}
