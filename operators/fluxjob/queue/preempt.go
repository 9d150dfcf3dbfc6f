package queue

import (
	"cmp"
	"slices"
)

// request is what a job asked for in vain.
type request struct {
	priority int32
	needs    Amounts
}

// makeRoom evicts holders so that a job fits once they are gone, and keeps the room for it. It reports whether it did.
func (p *pass) makeRoom(i int) bool {
	job := &p.Jobs[i]
	if !p.Setups[job.Setup].Preempts {
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
		p.leaving[v] = true
		p.soon.free(p.Holders[v].Setup, p.Holders[v].Holds)
		p.out.Evicted = append(p.out.Evicted, Eviction{Holder: v, Cause: Preempted, For: i})
	}
	p.soon.take(job.Setup, job.Needs)
	for setup := range p.failed { // what was in vain before may not be now: victims may have left more than was needed
		p.failed[setup] = nil
	}
	return true
}

// chooseVictims returns the holders to evict for a job, nil if all that may be evicted would not make room.
func (p *pass) chooseVictims(job *Job) []int {
	candidates := p.candidates(job)
	first := p.evictInOrder(job, candidates)
	if first == nil {
		return nil
	}
	// Others of no higher priority may be fewer: the most useful first.
	highest := p.Holders[candidates[len(first.tried)-1]].Priority
	candidates = slices.DeleteFunc(candidates, func(v int) bool { return p.Holders[v].Priority > highest })
	use := p.usefulness(job)
	slices.SortStableFunc(candidates, func(a, b int) int { return -cmp.Compare(use(a), use(b)) })
	second := p.evictInOrder(job, candidates)
	if second != nil && len(second.victims) < len(first.victims) {
		return second.victims
	}
	return first.victims
}

// candidates returns the holders that may be evicted for a job, in the order in which they should be. Holders of other
// setups are among them if the job would get what is its own setup's.
func (p *pass) candidates(job *Job) []int {
	if p.victims == nil {
		p.victims = make([]int, 0, len(p.Holders))
		for v := range p.Holders {
			p.victims = append(p.victims, v)
		}
		slices.SortFunc(p.victims, func(a, b int) int { return compareVictims(&p.Holders[a], &p.Holders[b]) })
	}
	reclaims := !p.soon.borrows(job.Setup, job.Needs)
	var candidates []int
	for _, v := range p.victims {
		h := &p.Holders[v]
		if h.Priority >= job.Priority {
			break
		}
		if !p.leaving[v] && (h.Setup == job.Setup || reclaims) {
			candidates = append(candidates, v)
		}
	}
	return candidates
}

// trial is an attempt to make room.
type trial struct {
	tried   []int // the candidates up to the last that was needed
	victims []int // those of them without whom it won't do
}

// evictInOrder evicts candidates one by one until a job fits, and then spares those who turn out not to be needed, the
// last ones first. It returns nil if the job doesn't fit in the end.
func (p *pass) evictInOrder(job *Job, candidates []int) *trial {
	u := p.soon.clone()
	var victims []int
	for n, v := range candidates {
		h := &p.Holders[v]
		if h.Setup != job.Setup && !u.borrowing(h.Setup, job.Needs) {
			continue // it no longer holds more than its setup's own
		}
		u.free(h.Setup, h.Holds)
		victims = append(victims, v)
		if fits, _ := u.fits(job.Setup, job.Needs); fits {
			return &trial{candidates[:n+1], p.spare(u, job, victims)}
		}
	}
	return nil
}

// spare returns the victims that are needed.
func (p *pass) spare(u *usage, job *Job, victims []int) []int {
	for n := len(victims) - 1; n >= 0; n-- {
		h := &p.Holders[victims[n]]
		u.take(h.Setup, h.Holds)
		if fits, _ := u.fits(job.Setup, job.Needs); fits {
			victims = slices.Delete(victims, n, n+1)
			continue
		}
		u.free(h.Setup, h.Holds)
	}
	return victims
}

// usefulness returns how much of what a job lacks a holder has.
func (p *pass) usefulness(job *Job) func(v int) float64 {
	lacks := make(Amounts, len(job.Needs))
	for r, n := range job.Needs {
		lacks[r] = p.soon.lack(job.Setup, r, n)
	}
	return func(v int) float64 {
		use := 0.0
		for r, lack := range lacks {
			if lack > 0 {
				use += float64(min(lack, p.Holders[v].Holds[r])) / float64(lack)
			}
		}
		return use
	}
}
