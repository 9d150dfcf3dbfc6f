package jobflow

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/operators/internal/outcome"
)

// departedJob is a Job of this attempt whose node isn't in the spec any more.
type departedJob struct {
	name string // of the node, and of the item if there is one
	job  *batchv1.Job
}

// observeDeparted appends the nodes that were taken out of the spec while they were running to the ledger, behind those
// that had ended before. What has been started can't be taken out: it is waited for, and counts.
func (p *pass) observeDeparted() {
	slices.SortFunc(p.departed, func(a, b departedJob) int { return cmp.Compare(a.job.Name, b.job.Name) })
	for _, d := range p.departed {
		hash := nameHash(d.name)
		if p.onRecord(hash) {
			continue
		}
		i := len(p.states)
		p.states = append(p.states, pending)
		p.marks = append(p.marks, mark{name: hash, spec: specHash(d.job.Annotations[AnnotationStartedAs])})
		switch o := p.outcomeOf(d.job); o.Phase {
		case outcome.Running:
			p.states[i] = running
			p.news[i] = news{job: d.job}
			p.active++
		case outcome.Succeeded:
			p.end(i, succeeded, news{job: d.job, ended: o.Ended})
		case outcome.Failed:
			p.end(i, failed, news{job: d.job, ended: o.Ended, message: o.Why()})
		}
	}
}

// onRecord reports whether a departed node of a name has ended.
func (p *pass) onRecord(hash uint32) bool {
	for i := p.size(); i < len(p.recorded.states); i++ {
		if p.sameName(p.marks[i].name, hash) {
			return true
		}
	}
	return false
}
