package queue

import "math"

// reach is which holders a job may preempt: those of a lower priority than one, of one setup or of all.
type reach struct {
	priority int32
	setup    int
}

const allSetups = -1

func (r reach) has(h *Holder) bool {
	return h.Priority < r.priority && (r.setup == allSetups || h.Setup == r.setup)
}

// isInfeasible reports whether a job wouldn't fit even if all holders within its reach were gone. Most jobs of a full queue need no search
// among the holders then: they are counted once for all jobs of the same reach.
func (rd *round) isInfeasible(job *Job) bool {
	within := allSetups // it may take back what is lent, if it doesn't borrow itself once its own setup's are gone
	if rd.after.borrows(job.Setup, job.Needs) && rd.afterEvicting(job, job.Setup).borrows(job.Setup, job.Needs) {
		within = job.Setup
	}
	fits, _ := rd.afterEvicting(job, within).fits(job.Setup, job.Needs)
	return !fits
}

// afterEvicting returns what would be held if a job had evicted all holders within its reach, of one setup or of all.
func (rd *round) afterEvicting(job *Job, setup int) *usage {
	candidates := rd.candidates(job)
	within := reach{math.MaxInt32, setup} // jobs between the same priorities of holders have the same reach
	if n := len(candidates); n < len(rd.victims) {
		within.priority = rd.Holders[rd.victims[n]].Priority
	}
	u := rd.without[within]
	if u == nil {
		u = rd.after.clone()
		for _, v := range candidates {
			if h := &rd.Holders[v]; !rd.terminating[v] && within.has(h) {
				u.free(h.Setup, h.Holds)
			}
		}
		rd.without[within] = u
	}
	return u
}

// reserve counts what a job gets, or what is reserved for it.
func (rd *round) reserve(job *Job) {
	rd.after.take(job.Setup, job.Needs)
	for _, u := range rd.without {
		u.take(job.Setup, job.Needs)
	}
}

// evict counts a holder as terminating.
func (rd *round) evict(v int) {
	h := &rd.Holders[v]
	rd.terminating[v] = true
	rd.after.free(h.Setup, h.Holds)
	for within, u := range rd.without {
		if !within.has(h) {
			u.free(h.Setup, h.Holds)
		}
	}
}
