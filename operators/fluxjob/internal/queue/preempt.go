package queue

import (
	"cmp"
	"iter"
	"slices"
)

// request is what a job asked for that no preemption could give it.
type request struct {
	priority int32
	needs    Amounts
}

// preempt evicts holders so that a job fits once they are gone, and reserves their share for it. It reports whether it did.
func (p *pass) preempt(i int) bool {
	job := &p.Jobs[i]
	if !p.Setups[job.Setup].Preempts {
		return false
	}
	if p.isInfeasible(job) {
		return false
	}
	for _, f := range p.failed[job.Setup] {
		if job.Priority <= f.priority && job.Needs.covers(f.needs) {
			return false // there is less to be had for it, and it needs no less
		}
	}
	victims := p.chooseVictims(job)
	if victims == nil {
		p.failed[job.Setup] = append(p.failed[job.Setup], request{job.Priority, job.Needs})
		return false
	}
	for _, v := range victims {
		p.evict(v)
		p.out.Evicted = append(p.out.Evicted, Eviction{Holder: v, Cause: Preempted, For: i})
	}
	p.reserve(job)
	for setup := range p.failed { // a request that failed before may fit now: victims may hold more than was needed
		p.failed[setup] = nil
	}
	return true
}

// chooseVictims returns the holders to evict for a job, nil if the job wouldn't fit even without all holders that it may preempt.
func (p *pass) chooseVictims(job *Job) []int {
	candidates := p.candidates(job)
	first, tried := p.evictInOrder(job, slices.Values(candidates))
	if len(first) < 2 {
		return first
	}
	// Others of no higher priority may be fewer: the most useful first.
	highest := p.Holders[candidates[tried-1]].Priority
	for tried < len(candidates) && p.Holders[candidates[tried]].Priority == highest {
		tried++
	}
	second, _ := p.evictInOrder(job, p.mostUsefulFirst(job, candidates[:tried]))
	if second != nil && len(second) < len(first) {
		return second
	}
	return first
}

// candidates returns the holders of a lower priority than a job's, in the order in which they should be evicted.
func (p *pass) candidates(job *Job) []int {
	if p.victims == nil {
		p.victims = make([]int, 0, len(p.Holders))
		for v := range p.Holders {
			p.victims = append(p.victims, v)
		}
		slices.SortFunc(p.victims, func(a, b int) int { return compareVictims(&p.Holders[a], &p.Holders[b]) })
	}
	// Those at the front go first, so that is where those who have gone gather.
	for len(p.victims) > 0 && p.terminating[p.victims[0]] {
		p.victims = p.victims[1:]
	}
	end, _ := slices.BinarySearchFunc(p.victims, job.Priority, func(v int, priority int32) int {
		return cmp.Compare(p.Holders[v].Priority, priority)
	})
	return p.victims[:end]
}

// evictInOrder evicts candidates one by one until a job fits, and then keeps those that turn out to be unnecessary, the
// last ones first. It returns nil if the job doesn't fit in the end, and how many candidates it took. Holders of other
// setups are evicted only if the job would get what is its own setup's, and as long as theirs has more than its own.
func (p *pass) evictInOrder(job *Job, candidates iter.Seq[int]) (victims []int, tried int) {
	u := p.after.clone()
	reclaims := !u.borrows(job.Setup, job.Needs)
	for v := range candidates {
		tried++
		h := &p.Holders[v]
		if p.terminating[v] || (h.Setup != job.Setup && !(reclaims && u.borrowing(h.Setup, job.Needs))) {
			continue
		}
		u.free(h.Setup, h.Holds)
		victims = append(victims, v)
		if fits, _ := u.fits(job.Setup, job.Needs); fits {
			return p.trim(u, job, victims), tried
		}
	}
	return nil, tried
}

// trim returns the victims that are necessary.
func (p *pass) trim(u *usage, job *Job, victims []int) []int {
	for n, victim := range slices.Backward(victims) {
		h := &p.Holders[victim]
		u.take(h.Setup, h.Holds)
		if fits, _ := u.fits(job.Setup, job.Needs); fits {
			victims = slices.Delete(victims, n, n+1)
			continue
		}
		u.free(h.Setup, h.Holds)
	}
	return victims
}
