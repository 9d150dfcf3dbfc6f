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
	p := newPass(&s)
	p.sortJobs()
	for len(p.queues) > 0 {
		l := p.queues[0]
		p.decideFirst(l)
		if len(l.jobs) == 0 {
			heap.Pop(&p.queues)
			continue
		}
		l.borrows = p.after.borrows(l.setup, s.Jobs[l.jobs[0]].Needs)
		heap.Fix(&p.queues, 0)
	}
	p.out.Balance = p.now.balances()
	return p.out
}

// pass is one run of Decide.
type pass struct {
	*State
	now         *usage // what is held, also by terminating holders, and what this pass has admitted
	after       *usage // what will be held once the terminating holders are gone, and what is reserved for waiting jobs
	terminating []bool // of the holders
	victims     []int  // the holders in the order of their eviction; nil until a job could preempt
	failed      [][]request
	without     map[reach]*usage // after, if all holders within a job's reach were evicted as well
	queues      queues
	out         Decisions
}

func newPass(s *State) *pass {
	resources := 0
	if len(s.Setups) > 0 {
		resources = len(s.Setups[0].Quota)
	}
	p := &pass{State: s, now: newUsage(s.Setups, resources), failed: make([][]request, len(s.Setups)), without: map[reach]*usage{}}
	p.after = p.now.clone()
	p.out.Why = make([]Why, len(s.Jobs))
	p.out.Waiting = make([][]int, len(s.Setups))
	p.terminating = make([]bool, len(s.Holders))
	for i := range s.Holders {
		p.hold(i)
	}
	return p
}

// hold counts a holder, and evicts it if it must go whatever the others do.
func (p *pass) hold(i int) {
	h := &p.Holders[i]
	p.now.take(h.Setup, h.Holds)
	switch {
	case h.Terminating:
		p.terminating[i] = true
	case p.Setups[h.Setup].Drain:
		p.terminating[i] = true
		p.out.Evicted = append(p.out.Evicted, Eviction{Holder: i, Cause: Drained, For: -1})
	case !h.ReadyBy.IsZero() && !p.Now.Before(h.ReadyBy):
		p.terminating[i] = true
		p.out.Evicted = append(p.out.Evicted, Eviction{Holder: i, Cause: NotReady, For: -1})
	default:
		p.after.take(h.Setup, h.Holds)
		p.decideBy(h.ReadyBy)
	}
}

// decideBy has the next decision made at a time at the latest.
func (p *pass) decideBy(t time.Time) {
	if !t.IsZero() && (p.out.Next.IsZero() || t.Before(p.out.Next)) {
		p.out.Next = t
	}
}

// sortJobs puts the jobs of each setup in order.
func (p *pass) sortJobs() {
	places, numbers := make([][]place, len(p.Setups)), make([]int, len(p.Setups))
	for i := range p.Jobs {
		numbers[p.Jobs[i].Setup]++
	}
	for setup, n := range numbers {
		places[setup] = make([]place, 0, n)
		p.out.Waiting[setup] = make([]int, 0, n)
	}
	for i := range p.Jobs {
		job := &p.Jobs[i]
		if large, r := p.now.tooLarge(job.Setup, job.Needs); large {
			p.out.Why[i] = Why{ExceedsMaximum, r}
			continue
		}
		places[job.Setup] = append(places[job.Setup], placeOf(job, i))
	}
	for setup, in := range places {
		if len(in) == 0 {
			continue
		}
		jobs := p.sorted(in)
		if p.Setups[setup].Hold || p.Setups[setup].Drain {
			p.wait(jobs, Stopped)
			p.out.Waiting[setup] = jobs
			continue
		}
		borrows := p.after.borrows(setup, p.Jobs[jobs[0]].Needs)
		p.queues = append(p.queues, &setupQueue{setup: setup, jobs: jobs, borrows: borrows, all: p.Jobs})
	}
	heap.Init(&p.queues)
}

// wait lets jobs wait for one reason.
func (p *pass) wait(jobs []int, reason Reason) {
	for _, i := range jobs {
		p.out.Why[i] = Why{Reason: reason}
	}
}

// decideFirst decides about the first job of a queue and removes it; it removes all of them if the rest must wait for that one.
func (p *pass) decideFirst(l *setupQueue) {
	i := l.jobs[0]
	p.out.Why[i] = p.decide(i)
	l.jobs = l.jobs[1:]
	reason := p.out.Why[i].Reason
	if reason == None {
		p.out.Admitted = append(p.out.Admitted, i)
		return
	}
	p.out.Waiting[l.setup] = append(p.out.Waiting[l.setup], i)
	if p.Setups[l.setup].Strict && reason != Backoff {
		p.wait(l.jobs, BlockedByHead)
		p.out.Waiting[l.setup] = append(p.out.Waiting[l.setup], l.jobs...)
		l.jobs = nil
	}
}

// decide admits a job, or returns why it waits. What is reserved for it isn't available for the jobs behind it.
func (p *pass) decide(i int) Why {
	job := &p.Jobs[i]
	if p.Now.Before(job.NotBefore) {
		p.decideBy(job.NotBefore)
		return Why{Reason: Backoff}
	}
	fits, short := p.after.fits(job.Setup, job.Needs)
	if !fits {
		if p.preempt(i) {
			return Why{Reason: Preempting}
		}
		if p.Setups[job.Setup].Strict && !p.after.borrows(job.Setup, job.Needs) {
			p.reserve(job)
		}
		return Why{WaitingForQuota, short}
	}
	p.reserve(job)
	if free, _ := p.now.fits(job.Setup, job.Needs); !free || job.Terminating {
		return Why{Reason: Preempting}
	}
	p.now.take(job.Setup, job.Needs)
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
