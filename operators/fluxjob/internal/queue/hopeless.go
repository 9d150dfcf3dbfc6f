package queue

// reach is whom a job may push out at most: those of a lower priority than its own, of one setup or of all of them.
type reach struct {
	priority int32
	setup    int
}

const allSetups = -1

func (r reach) has(h *Holder) bool {
	return h.Priority < r.priority && (r.setup == allSetups || h.Setup == r.setup)
}

// isHopeless reports whether a job would not fit even if all that it may push out were gone. It spares most jobs of a
// full queue a search among the holders: these are counted once for all jobs of a priority.
func (p *pass) isHopeless(job *Job) bool {
	within := reach{job.Priority, job.Setup}
	if !p.soon.borrows(job.Setup, job.Needs) {
		within.setup = allSetups // it may take back what is lent
	}
	u := p.without[within]
	if u == nil {
		u = p.soon.clone()
		for _, v := range p.candidates(job) {
			if h := &p.Holders[v]; !p.leaving[v] && within.has(h) {
				u.free(h.Setup, h.Holds)
			}
		}
		p.without[within] = u
	}
	fits, _ := u.fits(job.Setup, job.Needs)
	return !fits
}

// promise counts what a job is given, or what is kept for it.
func (p *pass) promise(job *Job) {
	p.soon.take(job.Setup, job.Needs)
	for _, u := range p.without {
		u.take(job.Setup, job.Needs)
	}
}

// sendAway counts a holder as gone soon.
func (p *pass) sendAway(v int) {
	h := &p.Holders[v]
	p.leaving[v] = true
	p.soon.free(h.Setup, h.Holds)
	for within, u := range p.without {
		if !within.has(h) {
			u.free(h.Setup, h.Holds)
		}
	}
}
