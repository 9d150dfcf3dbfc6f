package queue

import (
	"container/heap"
	"time"
)

// Decide returns which jobs are admitted, which holders are evicted, and the order of the jobs that wait. It doesn't change the state, and
// doesn't depend on the order of jobs, holders and setups.
//
// It takes n log n for n jobs. In addition it takes time in proportion to the number of holders, for each job that others are evicted for
// and for each different set of holders that jobs could preempt.
func Decide(s State) Decisions {
	rd := newRound(&s)
	rd.sortJobs()
	for len(rd.queues) > 0 {
		q := rd.queues[0]
		rd.decideFirst(q)
		if len(q.jobs) == 0 {
			heap.Pop(&rd.queues)
			continue
		}
		q.borrows = rd.after.borrows(q.setup, s.Jobs[q.jobs[0]].Needs)
		heap.Fix(&rd.queues, 0)
	}
	rd.out.Balance = rd.now.balances()
	return rd.out
}

// round is one run of Decide.
type round struct {
	*State
	now         *usage // what is held, also by terminating holders, and what this round has admitted
	after       *usage // what will be held once the terminating holders are gone, and what is reserved for waiting jobs
	terminating []bool // of the holders
	victims     []int  // the holders in the order of their eviction; nil until a job could preempt
	failed      [][]request
	without     map[reach]*usage // after, if all holders within a job's reach were evicted as well
	queues      queues
	out         Decisions
}

func newRound(s *State) *round {
	resources := 0
	if len(s.Setups) > 0 {
		resources = len(s.Setups[0].Quota)
	}
	now := newUsage(s.Setups, resources, s.Private)
	rd := &round{State: s, now: now, failed: make([][]request, len(s.Setups)), without: map[reach]*usage{}}
	rd.after = rd.now.clone()
	rd.out.Why = make([]Why, len(s.Jobs))
	rd.out.Waiting = make([][]int, len(s.Setups))
	rd.terminating = make([]bool, len(s.Holders))
	for i := range s.Holders {
		rd.hold(i)
	}
	return rd
}

// hold counts a holder, and evicts it if it must go whatever the others do.
func (rd *round) hold(i int) {
	h := &rd.Holders[i]
	rd.now.take(h.Setup, h.Holds)
	switch {
	case h.Stays:
		rd.after.take(h.Setup, h.Holds)
	case h.Terminating:
		rd.terminating[i] = true
	case rd.Setups[h.Setup].Drain:
		rd.terminating[i] = true
		rd.out.Evicted = append(rd.out.Evicted, Eviction{Holder: i, Cause: Drained, For: -1})
	case !h.ReadyBy.IsZero() && !rd.Now.Before(h.ReadyBy):
		rd.terminating[i] = true
		rd.out.Evicted = append(rd.out.Evicted, Eviction{Holder: i, Cause: NotReady, For: -1})
	default:
		rd.after.take(h.Setup, h.Holds)
		rd.decideBy(h.ReadyBy)
	}
}

// decideBy has the next decision made at a time at the latest.
func (rd *round) decideBy(t time.Time) {
	if !t.IsZero() && (rd.out.Next.IsZero() || t.Before(rd.out.Next)) {
		rd.out.Next = t
	}
}

// sortJobs puts the jobs of each setup in order.
func (rd *round) sortJobs() {
	keys, numbers := make([][]sortKey, len(rd.Setups)), make([]int, len(rd.Setups))
	for i := range rd.Jobs {
		numbers[rd.Jobs[i].Setup]++
	}
	for setup, n := range numbers {
		keys[setup] = make([]sortKey, 0, n)
		rd.out.Waiting[setup] = make([]int, 0, n)
	}
	for i := range rd.Jobs {
		job := &rd.Jobs[i]
		if large, r := rd.now.tooLarge(job.Setup, job.Needs); large {
			rd.out.Why[i] = Why{ExceedsMaximum, r}
			continue
		}
		keys[job.Setup] = append(keys[job.Setup], sortKeyOf(job, i))
	}
	for setup, own := range keys {
		if len(own) == 0 {
			continue
		}
		jobs := rd.sorted(own)
		if rd.Setups[setup].Hold || rd.Setups[setup].Drain {
			rd.wait(jobs, Stopped)
			rd.out.Waiting[setup] = jobs
			continue
		}
		borrows := rd.after.borrows(setup, rd.Jobs[jobs[0]].Needs)
		rd.queues = append(rd.queues, &setupQueue{setup: setup, jobs: jobs, borrows: borrows, all: rd.Jobs})
	}
	heap.Init(&rd.queues)
}

// wait lets jobs wait for one reason.
func (rd *round) wait(jobs []int, reason Reason) {
	for _, i := range jobs {
		rd.out.Why[i] = Why{Reason: reason}
	}
}

// decideFirst decides about the first job of a queue and removes it; it removes all of them if the rest must wait for that one.
func (rd *round) decideFirst(q *setupQueue) {
	i := q.jobs[0]
	rd.out.Why[i] = rd.decide(i)
	q.jobs = q.jobs[1:]
	reason := rd.out.Why[i].Reason
	if reason == None {
		rd.out.Admitted = append(rd.out.Admitted, i)
		return
	}
	rd.out.Waiting[q.setup] = append(rd.out.Waiting[q.setup], i)
	if rd.Setups[q.setup].Strict && reason != Backoff {
		rd.wait(q.jobs, BlockedByHead)
		rd.out.Waiting[q.setup] = append(rd.out.Waiting[q.setup], q.jobs...)
		q.jobs = nil
	}
}

// decide admits a job, or returns why it waits. What is reserved for it isn't available for the jobs behind it.
func (rd *round) decide(i int) Why {
	job := &rd.Jobs[i]
	if rd.Now.Before(job.NotBefore) {
		rd.decideBy(job.NotBefore)
		return Why{Reason: Backoff}
	}
	fits, short := rd.after.fits(job.Setup, job.Needs)
	if !fits {
		if rd.preempt(i) {
			return Why{Reason: Preempting}
		}
		if rd.Setups[job.Setup].Strict && !rd.after.exceeds(job.Setup, job.Needs) {
			rd.reserve(job)
		}
		return Why{WaitingForQuota, short}
	}
	rd.reserve(job)
	if free, _ := rd.now.fits(job.Setup, job.Needs); !free || job.Terminating {
		return Why{Reason: Preempting}
	}
	rd.now.take(job.Setup, job.Needs)
	return Why{}
}

// setupQueue has the undecided jobs of a setup, in order.
type setupQueue struct {
	setup   int
	jobs    []int
	borrows bool // the first of them needs to borrow
	all     []Job
}

// queues is a heap of queues, ordered by their first jobs.
type queues []*setupQueue

func (q queues) Len() int      { return len(q) }
func (q queues) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queues) Less(i, j int) bool {
	if q[i].borrows != q[j].borrows {
		return q[j].borrows
	}
	return q[i].all[q[i].jobs[0]].Compare(&q[j].all[q[j].jobs[0]]) < 0
}
func (q *queues) Push(x any) { *q = append(*q, x.(*setupQueue)) }
func (q *queues) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
