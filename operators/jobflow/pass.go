package jobflow

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// pass is one call of [Plan]: what is known, and what comes to be decided.
type pass struct {
	flow  *v1alpha1.JobFlow
	spec  *v1alpha1.JobFlowSpec
	seen  builder.View
	now   metav1.Time // as precise as the API server keeps it
	retry int32       // the retry that Jobs belong to now
	*graph.Graph

	// recorded is the record before this pass; Record is the one after it.
	recorded record.Record
	record.Record
	// jobs are the nodes' Jobs, by index, as far as there are any; itemJobs are those of items.
	jobs     []*batchv1.Job
	itemJobs map[itemKey]*batchv1.Job
	// former are Jobs of earlier attempts.
	former []*batchv1.Job
	// departed are Jobs of nodes that aren't in the spec any more.
	departed []departedJob
	// pods of Jobs that aren't known to have ended.
	pods outcome.ByJob
	// leftover are pods that haven't ended and whose Job is gone, by what they ran; firstLeft is one of a node in spec.flows.
	leftover  map[slot]*corev1.Pod
	firstLeft *corev1.Pod
	// items are how far nodes with forEach are, by index.
	items map[int]*itemRun
	// lists are outputs that a forEach runs over, by flow.
	lists map[string]itemList
	// outputs that are known, by node.
	outputs map[string]string
	// lost are those that can't be passed on, and why.
	lost map[string]string
	// news says more of nodes that have ended in this pass, or that wait.
	news map[int]news

	// failure is a node that has failed, -1 if none has; those in finally and those with allowFailure don't count.
	failure int
	// culprits are 1 + the nodes because of which nodes are skipped, as far as they have been looked for.
	culprits []int32

	ended     int    // nodes that have ended in this pass
	evaluated uint64 // what its expressions may have cost
	active    int    // Jobs that haven't ended
	held      bool   // nothing is started: the flow is suspended
	stopped   bool   // the flow was stopped before its end
	urgent    bool   // something depends on it that the status is written now
	start     []builder.Child
	obstacles []obstacle
	again     time.Duration // when to look again; 0 is never
}

// news is what is worth saying of one node.
type news struct {
	message string
	job     *batchv1.Job
	ended   *metav1.Time
}

// obstacle keeps one node from starting, until someone does something about it.
type obstacle struct {
	node, reason, message string
}

func newPass(flow *v1alpha1.JobFlow, seen builder.View, retry int32) *pass {
	g := graph.Of(seen.Context(), flow, retry)
	p := &pass{
		flow: flow, spec: &flow.Spec, seen: seen, retry: retry, Graph: g,
		now:      metav1.NewTime(seen.Now).Rfc3339Copy(),
		recorded: record.Read(&flow.Status, g.NameHashes, flow.Status.ObservedGeneration == flow.Generation),
		jobs:     make([]*batchv1.Job, g.Size()),
		news:     map[int]news{},
		lists:    map[string]itemList{},
		outputs:  make(map[string]string, len(flow.Status.Outputs)),
		lost:     map[string]string{},
		failure:  -1,
	}
	p.stopped = p.wasStopped()
	p.Record = p.recorded.Clone()
	for _, o := range flow.Status.Outputs {
		if o.Lost != "" {
			p.lost[o.Name] = o.Lost
			continue
		}
		p.outputs[o.Name] = o.Value
	}
	for i, s := range p.States {
		if s == record.Failed && p.isFlow(i) && !p.mayFail(i) {
			p.failure = i
			break
		}
	}
	return p
}

// isFlow reports whether a node is one of spec.flows, or was.
func (p *pass) isFlow(i int) bool { return i < p.NumFlows || i >= p.Size() }

// node returns a node by its index.
func (p *pass) node(i int) *v1alpha1.Flow { return graph.Node(p.spec, i) }

// end records how a node has ended.
func (p *pass) end(i int, s record.State, n news) {
	p.States[i] = s
	p.news[i] = n
	p.ended++
	if !s.HasRun() {
		return
	}
	if s == record.Failed && p.failure < 0 && p.isFlow(i) && !p.mayFail(i) {
		p.failure = i
	}
	switch {
	case i >= p.Size(): // it has a mark
	case n.job != nil:
		p.Digests[i] = record.NodeDigest{Name: p.NameHashes[i], Spec: record.HashDigest(n.job.Annotations[AnnotationStartedAs])}
	default:
		p.Digests[i] = record.NodeDigest{Name: p.NameHashes[i], Spec: record.HashDigest(record.Digest(p.node(i)))}
	}
}

// wakeIn has the plan made anew after a time, if nothing happens before.
func (p *pass) wakeIn(d time.Duration) {
	if d > 0 && (p.again == 0 || d < p.again) {
		p.again = d
	}
}

// nameOf names a node, also one that isn't in the spec any more.
func (p *pass) nameOf(i int) string {
	if i < p.Size() {
		return p.Names[i]
	}
	if n := p.news[i]; n.job != nil {
		return n.job.Labels[LabelFlow]
	}
	return "(taken out of the spec)"
}
