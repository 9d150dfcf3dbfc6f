package jobflow

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// departedJob is a Job of this attempt whose node isn't in the spec any more.
type departedJob struct {
	name string // of the node, and of the item if there is one
	job  *batchv1.Job
}

// observeDeparted appends the nodes that were taken out of the spec while they were running to the record, behind those
// that had ended before. What has been started can't be taken out: it is waited for, and counts.
func (p *pass) observeDeparted() {
	slices.SortFunc(p.departed, func(a, b departedJob) int { return cmp.Compare(a.job.Name, b.job.Name) })
	for _, d := range p.departed {
		hash := record.HashName(d.name)
		if p.onRecord(hash) {
			continue
		}
		i := len(p.States)
		p.States = append(p.States, record.Pending)
		p.Digests = append(p.Digests, record.NodeDigest{Name: hash, Spec: record.HashDigest(d.job.Annotations[AnnotationStartedAs])})
		switch o := p.outcomeOf(d.job); o.Phase {
		case outcome.Running:
			p.States[i] = record.Running
			p.news[i] = news{job: d.job}
			p.active++
		case outcome.Succeeded:
			p.end(i, record.Succeeded, news{job: d.job, ended: o.Ended})
		case outcome.Failed:
			p.end(i, record.Failed, news{job: d.job, ended: o.Ended, message: o.Why()})
		}
	}
}

// onRecord reports whether a departed node of a name has ended.
func (p *pass) onRecord(hash uint32) bool {
	for i := p.Size(); i < len(p.recorded.States); i++ {
		if p.SameName(p.Digests[i].Name, hash) {
			return true
		}
	}
	return false
}
