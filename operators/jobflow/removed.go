package jobflow

import (
	"cmp"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// removedNode is a node that was started in this retry and isn't in the spec any more.
type removedNode struct {
	name     string
	hasItems bool
	jobs     []*batchv1.Job // one, or those of its items
}

// addRemoved adds a Job of a removed node.
func (o *observed) addRemoved(node string, isItem bool, job *batchv1.Job) {
	n := o.removedItems[node]
	if n == nil || !isItem {
		n = &removedNode{name: node, hasItems: isItem}
		o.removed = append(o.removed, n)
	}
	if isItem {
		if o.removedItems == nil {
			o.removedItems = map[string]*removedNode{}
		}
		o.removedItems[node] = n
	}
	n.jobs = append(n.jobs, job)
}

// observeRemoved appends the nodes that were removed from the spec while they ran to the states, after those that had ended before. A node
// that was started can't be removed: the flow waits for it, and it counts. Nodes that run come last: the record has only those that have
// ended, and must have no gaps.
func (p *pass) observeRemoved(o *observed) {
	slices.SortFunc(o.removed, func(a, b *removedNode) int { return cmp.Compare(a.jobs[0].Name, b.jobs[0].Name) })
	active := map[*removedNode][]*batchv1.Job{}
	for _, n := range o.removed {
		if p.isRemovedRecorded(n) {
			continue
		}
		if active[n] = p.activeJobs(o, n); len(active[n]) == 0 {
			p.endRemoved(o, n)
		}
	}
	for _, n := range o.removed {
		if jobs := active[n]; len(jobs) > 0 {
			i := p.appendRemoved(n)
			p.States[i] = record.Running
			p.findings[i] = finding{job: jobs[max(slices.IndexFunc(jobs, isNotSuspended), 0)]}
			p.active += len(jobs)
		}
	}
}

// activeJobs returns the Jobs of a removed node that haven't ended.
func (p *pass) activeJobs(o *observed, n *removedNode) []*batchv1.Job {
	var active []*batchv1.Job
	for _, job := range n.jobs {
		if o.pods.Outcome(job, p.spec.EndOfJob).Phase == outcome.Running {
			active = append(active, job)
		}
	}
	return active
}

// endRemoved ends a removed node whose Jobs have ended. The first Job that failed is its cause of failure.
func (p *pass) endRemoved(o *observed, n *removedNode) {
	state, f := record.Succeeded, finding{job: n.jobs[0]}
	for _, job := range n.jobs {
		end := o.pods.Outcome(job, p.spec.EndOfJob)
		if end.Phase == outcome.Failed && state != record.Failed {
			state, f.job, f.message = record.Failed, job, end.Why()
		}
		if f.ended == nil || f.ended.Before(end.Ended) {
			f.ended = end.Ended
		}
	}
	p.end(p.appendRemoved(n), state, f)
}

// appendRemoved appends a removed node to the states, and returns its index.
func (p *pass) appendRemoved(n *removedNode) int {
	hash := record.HashName(n.name)
	if n.hasItems {
		hash = hashOfItems(n.name)
	}
	p.States = append(p.States, record.Pending)
	p.Digests = append(p.Digests, record.NodeDigest{Name: hash, Spec: record.HashDigest(n.jobs[0].Annotations[AnnotationStartedAs])})
	return len(p.States) - 1
}

// hashOfItems returns the hash by which the record has the items of a node that was removed while they ran. It isn't the hash of the name:
// if the node is added again, items that hadn't started still have to run.
func hashOfItems(node string) uint32 { return record.HashName(node + "#") }

// isRemovedRecorded reports whether the end of a removed node is recorded. A manager built from an earlier commit has recorded each item by
// itself.
func (p *pass) isRemovedRecorded(n *removedNode) bool {
	if p.isHashRecorded(record.HashName(n.name)) || n.hasItems && p.isHashRecorded(hashOfItems(n.name)) {
		return true
	}
	return n.hasItems && !slices.ContainsFunc(n.jobs, func(job *batchv1.Job) bool {
		return !p.isHashRecorded(record.HashName(n.name + "#" + strconv.Itoa(itemOf(job))))
	})
}

// isHashRecorded reports whether a removed node whose name has this hash is recorded.
func (p *pass) isHashRecorded(hash uint32) bool {
	for i := p.Size(); i < len(p.recorded.States); i++ {
		if p.SameName(p.Digests[i].Name, hash) {
			return true
		}
	}
	return false
}

// dropReadded drops from the record the items of nodes that were removed while these ran, and are in the spec again.
func (p *pass) dropReadded() {
	if len(p.recorded.States) <= p.Size() {
		return
	}
	var items []uint32
	for i, name := range p.Names {
		if p.node(i).ForEach != nil {
			items = append(items, hashOfItems(name))
		}
	}
	p.recorded.DropRemoved(p.Size(), items)
}

func isNotSuspended(job *batchv1.Job) bool { return !ptr.Deref(job.Spec.Suspend, false) }
