package queue

import (
	"container/heap"
	"time"
)

// Decide says who gets in, who must go, and who is next. It changes nothing that it is given, and the order of jobs,
// holders and setups means nothing to it.
//
// It takes n log n for n jobs. To that comes, for each job that others are evicted for and for each priority of those who
// look for room, time in proportion to the number of holders.
func Decide(s State) Decisions {
	p := newPass(&s)
	p.lineUp()
	for len(p.lines) > 0 {
		l := p.lines[0]
		p.consider(l)
		if len(l.jobs) == 0 {
			heap.Pop(&p.lines)
			continue
		}
		l.borrows = p.soon.borrows(l.setup, s.Jobs[l.jobs[0]].Needs)
		heap.Fix(&p.lines, 0)
	}
	p.out.Balance = p.now.balances()
	return p.out
}

// pass is one run of Decide.
type pass struct {
	*State
	now     *usage // what is held, also by those who are leaving, and what was given in this pass
	soon    *usage // what will be held once they have left, and what is kept for jobs that wait for it
	leaving []bool // of the holders
	victims []int  // the holders, those first that are to be evicted first; nil until someone asks
	failed  [][]request
	without map[reach]*usage // soon, if those went as well who are within reach
	lines   lines
	out     Decisions
}

func newPass(s *State) *pass {
	resources := 0
	if len(s.Setups) > 0 {
		resources = len(s.Setups[0].Quota)
	}
	p := &pass{State: s, now: newUsage(s.Setups, resources), failed: make([][]request, len(s.Setups)), without: map[reach]*usage{}}
	p.soon = p.now.clone()
	p.out.Why = make([]Why, len(s.Jobs))
	p.out.Waiting = make([][]int, len(s.Setups))
	p.leaving = make([]bool, len(s.Holders))
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
	case h.Leaving:
		p.leaving[i] = true
	case p.Setups[h.Setup].Drain:
		p.leaving[i] = true
		p.out.Evicted = append(p.out.Evicted, Eviction{Holder: i, Cause: Drained, For: -1})
	case !h.ReadyBy.IsZero() && !p.Now.Before(h.ReadyBy):
		p.leaving[i] = true
		p.out.Evicted = append(p.out.Evicted, Eviction{Holder: i, Cause: NotReady, For: -1})
	default:
		p.soon.take(h.Setup, h.Holds)
		p.lookAgain(h.ReadyBy)
	}
}

// lookAgain has the next decision made by a time.
func (p *pass) lookAgain(t time.Time) {
	if !t.IsZero() && (p.out.Next.IsZero() || t.Before(p.out.Next)) {
		p.out.Next = t
	}
}

// lineUp puts the jobs of each setup in order.
func (p *pass) lineUp() {
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
		borrows := p.soon.borrows(setup, p.Jobs[jobs[0]].Needs)
		p.lines = append(p.lines, &line{setup: setup, jobs: jobs, borrows: borrows, all: p.Jobs})
	}
	heap.Init(&p.lines)
}

// wait lets jobs wait for one reason.
func (p *pass) wait(jobs []int, reason Reason) {
	for _, i := range jobs {
		p.out.Why[i] = Why{Reason: reason}
	}
}

// consider decides about the first job of a line, and takes it off, or all of them if the rest must wait for it.
func (p *pass) consider(l *line) {
	i := l.jobs[0]
	p.out.Why[i] = p.judge(i)
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

// judge admits a job, or says why it waits. What is kept for it is taken off for those who come after it.
func (p *pass) judge(i int) Why {
	job := &p.Jobs[i]
	if p.Now.Before(job.NotBefore) {
		p.lookAgain(job.NotBefore)
		return Why{Reason: Backoff}
	}
	fits, short := p.soon.fits(job.Setup, job.Needs)
	if !fits {
		if p.makeRoom(i) {
			return Why{Reason: Preempting}
		}
		if p.Setups[job.Setup].Strict && !p.soon.borrows(job.Setup, job.Needs) {
			p.promise(job)
		}
		return Why{WaitingForQuota, short}
	}
	p.promise(job)
	if free, _ := p.now.fits(job.Setup, job.Needs); !free || job.Leaving {
		return Why{Reason: Preempting}
	}
	p.now.take(job.Setup, job.Needs)
	return Why{}
}

// line is the jobs of a setup that have yet to be decided about, in order.
type line struct {
	setup   int
	jobs    []int
	borrows bool // the first of them needs to borrow
	all     []Job
}

// lines is a heap of lines, ordered by their first jobs.
type lines []*line

func (l lines) Len() int      { return len(l) }
func (l lines) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l lines) Less(i, j int) bool {
	if l[i].borrows != l[j].borrows {
		return l[j].borrows
	}
	return l[i].all[l[i].jobs[0]].Compare(&l[j].all[l[j].jobs[0]]) < 0
}
func (l *lines) Push(x any) { *l = append(*l, x.(*line)) }
func (l *lines) Pop() any {
	last := len(*l) - 1
	x := (*l)[last]
	*l = (*l)[:last]
	return x
}
