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
func (rd *round) preempt(i int) bool {
	job := &rd.Jobs[i]
	if !rd.Setups[job.Setup].Preempts {
		return false
	}
	if rd.after.isOverfull(job.Setup) {
		return false // the job would have to evict others for what it doesn't need itself
	}
	if rd.isInfeasible(job) {
		return false
	}
	for _, f := range rd.failed[job.Setup] {
		if job.Priority <= f.priority && job.Needs.covers(f.needs) {
			return false // there is less to be had for it, and it needs no less
		}
	}
	victims := rd.chooseVictims(job)
	if victims == nil {
		rd.failed[job.Setup] = append(rd.failed[job.Setup], request{job.Priority, job.Needs})
		return false
	}
	for _, v := range victims {
		rd.evict(v)
		rd.out.Evicted = append(rd.out.Evicted, Eviction{Holder: v, Cause: Preempted, For: i})
	}
	rd.reserve(job)
	for setup := range rd.failed { // a request that failed before may fit now: victims may hold more than was needed
		rd.failed[setup] = nil
	}
	return true
}

// chooseVictims returns the holders to evict for a job, nil if the job wouldn't fit even without all holders that it may preempt.
func (rd *round) chooseVictims(job *Job) []int {
	candidates := rd.candidates(job)
	first, tried := rd.evictInOrder(job, slices.Values(candidates))
	if len(first) < 2 {
		return first
	}
	// Others of no higher priority may be fewer: the most useful first.
	highest := rd.Holders[candidates[tried-1]].Priority
	for tried < len(candidates) && rd.Holders[candidates[tried]].Priority == highest {
		tried++
	}
	second, _ := rd.evictInOrder(job, rd.mostUsefulFirst(job, candidates[:tried]))
	if second != nil && len(second) < len(first) {
		return second
	}
	return first
}

// candidates returns the holders of a lower priority than a job's, in the order in which they should be evicted.
func (rd *round) candidates(job *Job) []int {
	if rd.victims == nil {
		rd.victims = make([]int, 0, len(rd.Holders))
		for v := range rd.Holders {
			rd.victims = append(rd.victims, v)
		}
		slices.SortFunc(rd.victims, func(a, b int) int { return compareVictims(&rd.Holders[a], &rd.Holders[b]) })
	}
	// Those at the front go first, so that is where those who have gone gather.
	for len(rd.victims) > 0 && rd.terminating[rd.victims[0]] {
		rd.victims = rd.victims[1:]
	}
	end, _ := slices.BinarySearchFunc(rd.victims, job.Priority, func(v int, priority int32) int {
		return cmp.Compare(rd.Holders[v].Priority, priority)
	})
	return rd.victims[:end]
}

// evictInOrder evicts candidates one by one until a job fits, and then keeps those that turn out to be unnecessary, the
// last ones first. It returns nil if the job doesn't fit in the end, and how many candidates it took. Holders of other
// setups are evicted only if the job would get what is its own setup's, and as long as theirs has more than its own. They
// may come before those of the job's own setup whose eviction lets the job do without borrowing, and wait for these.
func (rd *round) evictInOrder(job *Job, candidates iter.Seq[int]) (victims []int, tried int) {
	u := rd.after.clone()
	var others []int
	for v := range candidates {
		tried++
		h := &rd.Holders[v]
		switch {
		case rd.terminating[v]:
			continue
		case h.Setup != job.Setup:
			others = append(others, v)
		default:
			u.free(h.Setup, h.Holds)
			victims = append(victims, v)
			if fits, _ := u.fits(job.Setup, job.Needs); fits {
				return rd.trim(u, job, victims), tried
			}
		}
		if u.borrows(job.Setup, job.Needs) {
			continue
		}
		for _, other := range others {
			h := &rd.Holders[other]
			if !u.borrowing(h.Setup, job.Needs) {
				continue
			}
			u.free(h.Setup, h.Holds)
			victims = append(victims, other)
			if fits, _ := u.fits(job.Setup, job.Needs); fits {
				return rd.trim(u, job, victims), tried
			}
		}
		others = others[:0]
	}
	return nil, tried
}

// trim returns the victims that are necessary, so that the job fits, and doesn't borrow while it reclaims.
func (rd *round) trim(u *usage, job *Job, victims []int) []int {
	reclaimed := 0 // victims of other setups
	for _, victim := range victims {
		if rd.Holders[victim].Setup != job.Setup {
			reclaimed++
		}
	}
	for n, victim := range slices.Backward(victims) {
		h := &rd.Holders[victim]
		u.take(h.Setup, h.Holds)
		if fits, _ := u.fits(job.Setup, job.Needs); fits && (reclaimed == 0 || !u.borrows(job.Setup, job.Needs)) {
			victims = slices.Delete(victims, n, n+1)
			if h.Setup != job.Setup {
				reclaimed--
			}
			continue
		}
		u.free(h.Setup, h.Holds)
	}
	return victims
}
