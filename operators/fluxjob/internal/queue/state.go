package queue

import (
	"cmp"
	"strings"
	"time"
)

// State is all that decisions depend on.
type State struct {
	// Now is the time.
	Now time.Time
	// Setups are those of one cohort, or a single one that is in none.
	Setups []Setup
	// Holders hold something. Their order means nothing.
	Holders []Holder
	// Jobs wait. Their order means nothing.
	Jobs []Job
	// Private is how many of the amounts, the last ones, no setup lends or borrows: Borrow and Lend are 0 there, and Quota isn't Unlimited.
	Private int
}

// Setup is a queue and its quota.
type Setup struct {
	// Quota is the setup's own. Unlimited: the resource isn't counted, and neither lent nor borrowed.
	Quota Amounts
	// Borrow is how much more than its own the setup may use. Unlimited: whatever the others have to lend.
	Borrow Amounts
	// Lend is how much of its own the others may use. Unlimited: all.
	Lend Amounts
	// Strict is StrictFIFO: behind a job that waits, all wait.
	Strict bool
	// Preempts lets jobs take the quota of holders of a lower priority.
	Preempts bool
	// Hold lets no one in.
	Hold bool
	// Drain makes all holders go.
	Drain bool
}

// ID names a job.
type ID struct{ Namespace, Name string }

func (a ID) compare(b ID) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Namespace, b.Namespace))
}

// String returns namespace/name.
func (a ID) String() string { return a.Namespace + "/" + a.Name }

// Job waits for its share.
type Job struct {
	ID
	// Setup is the index of the job's setup.
	Setup int
	// Priority: more goes first.
	Priority int32
	// Since is when the job entered the queue.
	Since time.Time
	// NotBefore is when the job may be admitted again after an eviction. Zero: at once.
	NotBefore time.Time
	// Terminating: the job was evicted, and is still a Holder that is Terminating. It has its position in the queue already, so
	// that no later job goes before it, and is admitted once it has terminated.
	Terminating bool
	// Needs is what the job needs to run.
	Needs Amounts
}

// Compare returns less than 0 if a goes before b: a higher priority, an earlier time, the name. 0 is the same job.
func (a *Job) Compare(b *Job) int {
	return cmp.Or(-cmp.Compare(a.Priority, b.Priority), a.Since.Compare(b.Since), a.ID.compare(b.ID))
}

// Holder is a job that holds a share.
type Holder struct {
	ID
	// Setup is the index of the setup that gave it.
	Setup int
	// Priority: of those that may be evicted, less goes first.
	Priority int32
	// Since is when the share was given.
	Since time.Time
	// Holds is the share.
	Holds Amounts
	// Terminating: the holder was evicted or has ended, and its pods may still use its share.
	Terminating bool
	// Stays: the holder keeps its share whatever is decided. It isn't evicted, and doesn't count as Terminating. Its Priority must be the
	// highest.
	Stays bool
	// ReadyBy is when the holder's pods must be ready, or it is evicted. Zero: they are ready, or have no time limit.
	ReadyBy time.Time
}

// compareVictims returns less than 0 if a is to be evicted rather than b: a lower priority, a later start, the name.
func compareVictims(a, b *Holder) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), b.Since.Compare(a.Since), a.ID.compare(b.ID))
}
