package queue

import (
	"container/heap"
	"time"
)

// Decide returns which jobs are admitted, which holders are evicted, and the order of the jobs that wait. It doesn't change the state, and
// doesn't depend on the order of jobs, holders and setups.
//
// It takes n log n for n jobs. In addition it takes time in proportion to the number of holders, for each job that others are evicted for
// and for each priority of the jobs that could preempt.
func Decide(s State) Decisions {
	rd := newRound(&s)
	rd.sortJobs()
	for len(rd.queues) > 0 {
		l := rd.queues[0]
		rd.decideFirst(l)
		if len(l.jobs) == 0 {
			heap.Pop(&rd.queues)
			continue
		}
		l.borrows = rd.after.borrows(l.setup, s.Jobs[l.jobs[0]].Needs)
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
	rd := &round{State: s, now: newUsage(s.Setups, resources), failed: make([][]request, len(s.Setups)), without: map[reach]*usage{}}
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
	places, numbers := make([][]place, len(rd.Setups)), make([]int, len(rd.Setups))
	for i := range rd.Jobs {
		numbers[rd.Jobs[i].Setup]++
	}
	for setup, n := range numbers {
		places[setup] = make([]place, 0, n)
		rd.out.Waiting[setup] = make([]int, 0, n)
	}
	for i := range rd.Jobs {
		job := &rd.Jobs[i]
		if large, r := rd.now.tooLarge(job.Setup, job.Needs); large {
			rd.out.Why[i] = Why{ExceedsMaximum, r}
			continue
		}
		places[job.Setup] = append(places[job.Setup], placeOf(job, i))
	}
	for setup, in := range places {
		if len(in) == 0 {
			continue
		}
		jobs := rd.sorted(in)
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
func (rd *round) decideFirst(l *setupQueue) {
	i := l.jobs[0]
	rd.out.Why[i] = rd.decide(i)
	l.jobs = l.jobs[1:]
	reason := rd.out.Why[i].Reason
	if reason == None {
		rd.out.Admitted = append(rd.out.Admitted, i)
		return
	}
	rd.out.Waiting[l.setup] = append(rd.out.Waiting[l.setup], i)
	if rd.Setups[l.setup].Strict && reason != Backoff {
		rd.wait(l.jobs, BlockedByHead)
		rd.out.Waiting[l.setup] = append(rd.out.Waiting[l.setup], l.jobs...)
		l.jobs = nil
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
		if rd.Setups[job.Setup].Strict && !rd.after.borrows(job.Setup, job.Needs) {
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

func (l queues) Len() int      { return len(l) }
func (l queues) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l queues) Less(i, j int) bool {
	if l[i].borrows != l[j].borrows {
		return l[j].borrows
	}
	return l[i].all[l[i].jobs[0]].Compare(&l[j].all[l[j].jobs[0]]) < 0
}
func (l *queues) Push(x any) { *l = append(*l, x.(*setupQueue)) }
func (l *queues) Pop() any {
	last := len(*l) - 1
	x := (*l)[last]
	*l = (*l)[:last]
	return x
}
