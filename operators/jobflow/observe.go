package jobflow

import (
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
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// observed is what the view has of a flow beside the states of its nodes.
type observed struct {
	jobs     []*batchv1.Job           // the Jobs of the nodes, by index; nil without one
	itemJobs map[itemKey]*batchv1.Job // the Jobs of nodes with forEach
	former   []*batchv1.Job           // Jobs of earlier retries
	pods     outcome.ByJob            // of Jobs that aren't known to have ended

	removed      []*removedNode          // nodes that aren't in the spec any more and have Jobs of this retry
	removedItems map[string]*removedNode // those of removed with items, by name

	leftover      map[slot]*corev1.Pod // pods that haven't ended and whose Job is gone
	firstLeftover *corev1.Pod          // one of them of a node in spec.flows, or of one that was removed
}

// observe sets the state of each node whose end isn't recorded, from its Job and the Job's pods.
func (p *pass) observe() *observed {
	o := p.findJobs()
	p.groupPods(o)
	p.findLeftover(o)
	for i, job := range o.jobs {
		if job != nil && !p.States[i].HasRun() { // a Job of a skipped node was created by a pass whose status wasn't written
			p.observeJob(o, i, job)
		}
	}
	p.observeItems(o)
	p.observeRemoved(o)
	p.findRefused(o)
	p.findOverdue(o)
	p.observeLateOutputs(o)
	return o
}

// findJobs finds the Jobs of the nodes, and classifies all others.
func (p *pass) findJobs() *observed {
	o := &observed{jobs: make([]*batchv1.Job, p.Size())}
	for _, job := range builder.Owned[*batchv1.Job](p.view) {
		if i, ok := p.ByJobName[job.Name]; ok {
			o.jobs[i] = job
			continue
		}
		p.classify(o, job)
	}
	return o
}

// classify adds a Job without the name of a node's to those of items, of former retries, or of removed nodes. Other Jobs are ignored.
func (p *pass) classify(o *observed, job *batchv1.Job) {
	node := job.Labels[LabelFlow]
	if node == "" {
		return
	}
	if origin.Number(job.Labels, LabelRetry) < p.retry {
		o.former = append(o.former, job)
		return
	}
	i, known := p.Index[node]
	item := itemOf(job)
	switch {
	case !known:
		o.addRemoved(node, item >= 0, job)
	case item >= 0 && job.Name == graph.ItemJobName(p.flow.Name, node, item, p.retry):
		if o.itemJobs == nil {
			o.itemJobs = map[itemKey]*batchv1.Job{}
		}
		o.itemJobs[itemKey{int(i), item}] = job
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
func (p *pass) groupPods(o *observed) {
	o.pods = outcome.GroupByJob(builder.Owned[*corev1.Pod](p.view), func(ref *metav1.OwnerReference) bool {
		i, ok := p.ByJobName[ref.Name]
		return !ok || o.jobs[i] != nil && o.jobs[i].UID == ref.UID && (!p.States[i].HasRun() || p.HasReaders[i])
	})
}

// slot is what Jobs run one after another: a node, or an item of one (-1: no item).
type slot struct {
	node string
	item int
}

// findLeftover finds the pods that still run and whose Job is gone.
func (p *pass) findLeftover(o *observed) {
	for _, pod := range outcome.Leftover(builder.Watched[*corev1.Pod](p.view), builder.Owned[*batchv1.Job](p.view)) {
		if o.leftover == nil {
			o.leftover = map[slot]*corev1.Pod{}
		}
		s := slot{pod.Labels[LabelFlow], itemOf(pod)}
		if o.leftover[s] == nil { // the first one, by name
			o.leftover[s] = pod
		}
		if i, ok := p.Index[s.node]; (!ok || int(i) < p.NumFlows) && o.firstLeftover == nil {
			o.firstLeftover = pod
		}
	}
}

// observeJob sets the state of a node from its Job.
func (p *pass) observeJob(o *observed, i int, job *batchv1.Job) {
	end := o.pods.Outcome(job, p.spec.EndOfJob)
	switch end.Phase {
	case outcome.Running:
		p.States[i] = record.Running
		p.active++
		return
	case outcome.Succeeded:
		if wait := p.observeOutput(o, i, job, end.Ended); wait > 0 {
			p.States[i] = record.Running // the output isn't known yet
			p.requeueIn(wait)
			return
		}
		p.end(i, record.Succeeded, finding{job: job, ended: end.Ended})
	case outcome.Failed:
		p.end(i, record.Failed, finding{job: job, ended: end.Ended, message: end.Why()})
	}
}

// observeOutput reads the output of a node whose Job has succeeded, if another node reads it. It returns how long it may still come.
func (p *pass) observeOutput(o *observed, i int, job *batchv1.Job, ended *metav1.Time) time.Duration {
	if !p.HasReaders[i] {
		return 0
	}
	return p.outputs.Observe(p.Names[i], ended, o.pods[job.UID], p.view.Now)
}

// observeLateOutputs reads the outputs of nodes that had ended before an edit of the spec made another node need them.
func (p *pass) observeLateOutputs(o *observed) {
	for i, job := range o.jobs {
		if job != nil && p.States[i] == record.Succeeded {
			p.observeOutput(o, i, job, nil)
		}
	}
}

// inferEnds records that a node has succeeded whose Job was deleted before its end was recorded, if a node that depends on it has started.
// The status may be written later than a Job ends, and the Job can be deleted in the meantime; without this the node would run again.
// Only success can be inferred: a failure that is allowed is recorded before any dependent starts.
func (p *pass) inferEnds(o *observed) {
	for i, s := range p.States {
		if s != record.Running && !s.HasRun() || i >= p.NumFlows || p.Whens[int32(i)] != nil {
			continue
		}
		for _, d := range p.Dependencies(i) {
			if p.States[d] != record.Pending || !p.startedWithSameDependencies(o, i) {
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
func (p *pass) startedWithSameDependencies(o *observed, i int) bool {
	is := record.Digest(p.node(i))
	if was := p.startedAs(o, i); was != "" {
		changed := record.ChangedFields(was, is)
		return !slices.Contains(changed, "dependencies") && !slices.Contains(changed, "when")
	}
	return p.retry == 0 && p.recorded.States[i].HasRun() && p.Digests[i].Spec == record.HashDigest(is)
}

// overdueAfter is how long a pod outlives its grace period until the status names it: a kubelet needs time, and clocks differ.
const overdueAfter = time.Minute

// findOverdue finds the nodes of which a Job has a pod that should have ended: its cluster node may be lost, and then it never ends.
func (p *pass) findOverdue(o *observed) {
	p.eachActiveJob(o, func(job *batchv1.Job, node int) {
		if node >= p.Size() || p.States[node] != record.Running || p.findings[node].message != "" {
			return
		}
		for _, pod := range o.pods[job.UID] {
			if pod.DeletionTimestamp == nil || outcome.HasEnded(pod) {
				continue
			}
			if left := pod.DeletionTimestamp.Add(overdueAfter).Sub(p.now.Time); left > 0 {
				p.requeueIn(left)
				continue
			}
			p.findings[node] = finding{message: fmt.Sprintf(
				"pod %s hasn't ended in its grace period: its node %s may be lost", pod.Name, pod.Spec.NodeName)}
			return
		}
	})
}

// findRefused finds the nodes whose Jobs have no pods because the API server refuses them, of a node with items the first one.
func (p *pass) findRefused(o *observed) {
	refused, reasons := refusal.Of(p.view), map[int]string{}
	for i, job := range o.jobs {
		if job != nil && p.States[i] == record.Running {
			if reason := refused.Reason(job); reason != "" {
				reasons[i] = reason
			}
		}
	}
	first := map[int]int{}
	for key, job := range o.itemJobs {
		reason := refused.Reason(job)
		if item, ok := first[key.node]; reason != "" && (!ok || key.item < item) {
			first[key.node], reasons[key.node] = key.item, reason
		}
	}
	for _, i := range slices.Sorted(maps.Keys(reasons)) {
		p.blockers = append(p.blockers, blocker{p.nameOf(i), v1alpha1.ReasonPodsRefused, "has no pods, since they are refused: " + reasons[i]})
	}
	p.requeueIn(refused.RequeueAfter())
}
