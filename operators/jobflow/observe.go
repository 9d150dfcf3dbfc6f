package jobflow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/origin"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/internal/refusal"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/items"
	"github.com/armature-dev/armature/operators/jobflow/internal/outputs"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// observed is what the view has of a flow beside the states of its nodes, and the outputs that the status records.
type observed struct {
	jobs     []*batchv1.Job           // the Jobs of the nodes, by index; nil without one
	itemJobs map[itemKey]*batchv1.Job // the Jobs of nodes with forEach
	former   []*batchv1.Job           // Jobs of earlier retries
	removed  []removedJob             // Jobs of nodes that aren't in the spec any more
	pods     outcome.ByJob            // of Jobs that aren't known to have ended

	leftover      map[slot]*corev1.Pod // pods that haven't ended and whose Job is gone
	firstLeftover *corev1.Pod          // one of them of a node in spec.flows

	items   map[int]*items.Run    // the items of nodes with forEach, by index
	lists   map[string]items.List // outputs that a forEach runs over, by node
	outputs outputs.Set           // what nodes wrote that other nodes read
}

// observe sets the state of each node whose end isn't recorded, from its Job and the Job's pods.
func (p *pass) observe() {
	p.findJobs()
	p.groupPods()
	p.findLeftover()
	for i, job := range p.jobs {
		if job != nil && !p.States[i].HasRun() { // a Job of a skipped node was created by a pass whose status wasn't written
			p.observeJob(i, job)
		}
	}
	p.observeItems()
	p.observeRemoved()
	p.findRefused()
	p.observeLateOutputs()
}

// findJobs finds the Jobs of the nodes, and classifies all others.
func (p *pass) findJobs() {
	for _, job := range builder.Owned[*batchv1.Job](p.view) {
		if i, ok := p.ByJobName[job.Name]; ok {
			p.jobs[i] = job
			continue
		}
		p.classify(job)
	}
}

// classify adds a Job without the name of a node's to those of items, of former retries, or of removed nodes. Other Jobs are ignored.
func (p *pass) classify(job *batchv1.Job) {
	node := job.Labels[LabelFlow]
	if node == "" {
		return
	}
	if origin.Number(job.Labels, LabelRetry) < p.retry {
		p.former = append(p.former, job)
		return
	}
	i, known := p.Index[node]
	item := itemOf(job)
	switch {
	case !known && item >= 0:
		p.removed = append(p.removed, removedJob{node + "#" + strconv.Itoa(item), job})
	case !known:
		p.removed = append(p.removed, removedJob{node, job})
	case item >= 0 && job.Name == graph.ItemJobName(p.flow.Name, node, item, p.retry):
		if p.itemJobs == nil {
			p.itemJobs = map[itemKey]*batchv1.Job{}
		}
		p.itemJobs[itemKey{int(i), item}] = job
	}
}

// itemOf returns the item that a Job or a pod is for; -1 if it is for a whole node.
func itemOf(obj metav1.Object) int {
	item, err := strconv.Atoi(obj.GetLabels()[LabelItem])
	if err != nil || item < 0 {
		return -1
	}
	return item
}

// groupPods finds the pods of Jobs that haven't ended, and of those whose output is needed.
func (p *pass) groupPods() {
	p.pods = outcome.GroupByJob(builder.Owned[*corev1.Pod](p.view), func(ref *metav1.OwnerReference) bool {
		i, ok := p.ByJobName[ref.Name]
		return !ok || p.jobs[i] != nil && p.jobs[i].UID == ref.UID && (!p.States[i].HasRun() || p.HasReaders[i])
	})
}

// slot is what Jobs run one after another: a node, or an item of one (-1: no item).
type slot struct {
	node string
	item int
}

// findLeftover finds the pods that still run and whose Job is gone.
func (p *pass) findLeftover() {
	for _, pod := range outcome.Leftover(builder.Watched[*corev1.Pod](p.view), builder.Owned[*batchv1.Job](p.view)) {
		if p.leftover == nil {
			p.leftover = map[slot]*corev1.Pod{}
		}
		s := slot{pod.Labels[LabelFlow], itemOf(pod)}
		if p.leftover[s] == nil { // the first one, by name
			p.leftover[s] = pod
		}
		if i, ok := p.Index[s.node]; ok && int(i) < p.NumFlows && p.firstLeftover == nil {
			p.firstLeftover = pod
		}
	}
}

// observeJob sets the state of a node from its Job.
func (p *pass) observeJob(i int, job *batchv1.Job) {
	o := p.pods.Outcome(job, p.spec.EndOfJob)
	switch o.Phase {
	case outcome.Running:
		p.States[i] = record.Running
		p.active++
		return
	case outcome.Succeeded:
		if wait := p.observeOutput(i, job, o.Ended); wait > 0 {
			p.States[i] = record.Running // the output isn't known yet
			p.requeueIn(wait)
			return
		}
		p.end(i, record.Succeeded, finding{job: job, ended: o.Ended})
	case outcome.Failed:
		p.end(i, record.Failed, finding{job: job, ended: o.Ended, message: o.Why()})
	}
}

// observeOutput reads the output of a node whose Job has succeeded, if another node reads it. It returns how long it may still come.
func (p *pass) observeOutput(i int, job *batchv1.Job, ended *metav1.Time) time.Duration {
	if !p.HasReaders[i] {
		return 0
	}
	return p.outputs.Observe(p.Names[i], ended, p.pods[job.UID], p.view.Now)
}

// observeLateOutputs reads the outputs of nodes that had ended before an edit of the spec made another node need them.
func (p *pass) observeLateOutputs() {
	for i, job := range p.jobs {
		if job != nil && p.States[i] == record.Succeeded {
			p.observeOutput(i, job, nil)
		}
	}
}

// removedJob is a Job of this retry whose node isn't in the spec any more.
type removedJob struct {
	name string // of the node, and of the item if there is one
	job  *batchv1.Job
}

// observeRemoved appends the nodes that were removed from the spec while they ran to the states, after those that had ended before. A node
// that was started can't be removed: the flow waits for it, and it counts.
func (p *pass) observeRemoved() {
	slices.SortFunc(p.removed, func(a, b removedJob) int { return cmp.Compare(a.job.Name, b.job.Name) })
	for _, d := range p.removed {
		hash := record.HashName(d.name)
		if p.isRemovedRecorded(hash) {
			continue
		}
		i := len(p.States)
		p.States = append(p.States, record.Pending)
		p.Digests = append(p.Digests, record.NodeDigest{Name: hash, Spec: record.HashDigest(d.job.Annotations[AnnotationStartedAs])})
		switch o := p.pods.Outcome(d.job, p.spec.EndOfJob); o.Phase {
		case outcome.Running:
			p.States[i] = record.Running
			p.findings[i] = finding{job: d.job}
			p.active++
		case outcome.Succeeded:
			p.end(i, record.Succeeded, finding{job: d.job, ended: o.Ended})
		case outcome.Failed:
			p.end(i, record.Failed, finding{job: d.job, ended: o.Ended, message: o.Why()})
		}
	}
}

// isRemovedRecorded reports whether the end of a removed node is recorded.
func (p *pass) isRemovedRecorded(hash uint32) bool {
	for i := p.Size(); i < len(p.recorded.States); i++ {
		if p.SameName(p.Digests[i].Name, hash) {
			return true
		}
	}
	return false
}

// inferEnds records that a node has succeeded whose Job was deleted before its end was recorded, if a node that depends on it has started.
// The status may be written later than a Job ends, and the Job can be deleted in the meantime; without this the node would run again.
// Only success can be inferred: a failure that is allowed is recorded before any dependent starts.
func (p *pass) inferEnds() {
	for i, s := range p.States {
		if s != record.Running && !s.HasRun() || i >= p.NumFlows || p.Whens[int32(i)] != nil {
			continue
		}
		for _, d := range p.Dependencies(i) {
			if p.States[d] != record.Pending || !p.startedWithSameDependencies(i) {
				continue
			}
			text := fmt.Sprintf("its Job was deleted before its end was recorded; %s had been started after it", p.Names[i])
			if p.hasNoItems(int(d)) {
				text = noItems
			}
			p.end(int(d), record.Succeeded, finding{message: text})
		}
	}
}

// hasNoItems reports whether a node has a forEach over an empty list. It never had a Job.
func (p *pass) hasNoItems(i int) bool {
	if p.node(i).ForEach == nil {
		return false
	}
	list, err := p.listOf(i)
	return err == nil && len(list.Values) == 0
}

// startedWithSameDependencies reports whether the node had the same dependencies when it was started. A start before a retry doesn't
// count: the retry may run a dependency again that failed (allowFailure), or whose output was lost.
func (p *pass) startedWithSameDependencies(i int) bool {
	is := record.Digest(p.node(i))
	if was := p.startedAs(i); was != "" {
		changed := record.ChangedFields(was, is)
		return !slices.Contains(changed, "dependencies") && !slices.Contains(changed, "when")
	}
	return p.retry == 0 && p.recorded.States[i].HasRun() && p.Digests[i].Spec == record.HashDigest(is)
}

// findRefused finds the nodes whose Jobs have no pods because the API server refuses them, of a node with items the first one.
func (p *pass) findRefused() {
	refused, why := refusal.Of(p.view), map[int]string{}
	for i, job := range p.jobs {
		if job != nil && p.States[i] == record.Running {
			if words := refused.Why(job); words != "" {
				why[i] = words
			}
		}
	}
	first := map[int]int{}
	for key, job := range p.itemJobs {
		words := refused.Why(job)
		if item, ok := first[key.node]; words != "" && (!ok || key.item < item) {
			first[key.node], why[key.node] = key.item, words
		}
	}
	for _, i := range slices.Sorted(maps.Keys(why)) {
		p.blockers = append(p.blockers, blocker{p.nameOf(i), v1alpha1.ReasonPodsRefused, "has no pods, since they are refused: " + why[i]})
	}
	p.requeueIn(refused.Again())
}
