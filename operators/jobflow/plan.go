package jobflow

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/items"
	"github.com/armature-dev/armature/operators/jobflow/internal/outputs"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// Plan decides which Jobs a flow gets now, and what its status is. It is a [builder.PlanFunc].
//
// The plan's children are only the Jobs to create. It has no Prune, so the builder leaves all other Jobs as they are, unless they are in
// Edits or Delete.
func Plan(flow *v1alpha1.JobFlow, view builder.View) builder.Plan[*v1alpha1.JobFlow] {
	switch {
	case !lifecycle.IsOurs(flow.Spec.ManagedBy):
		return builder.Plan[*v1alpha1.JobFlow]{}
	case flow.DeletionTimestamp != nil:
		return planTerminating(flow, view)
	}
	p := newPass(flow, view)
	switch {
	case endedUnderFormerOperator(&flow.Status):
		return p.planTakeover()
	case p.last.CompletionTime != nil:
		return p.planEnded()
	}

	o := p.observe()
	p.inferEnds(o)
	d := p.decide(o)
	return p.plan(o, d)
}

// plan returns the plan of a flow that hasn't ended before this pass, once each node has its state.
func (p *pass) plan(o *observed, d *decision) builder.Plan[*v1alpha1.JobFlow] {
	edits := p.suspendOrResume(o)
	status := p.status(o, d)
	plan := builder.Plan[*v1alpha1.JobFlow]{
		Children: d.start, Edits: edits, Events: p.events(status),
		Delete: slices.Concat(p.stoppedJobs(o), p.withdrawnJobs(o, d), p.expiredJobs(o)),
	}
	plan.RequeueAfter = p.requeueAfter // all steps before may have set it
	return p.withStatus(plan, status)
}

const (
	// statusDelay is how long a status that differs only in counts may wait to be written. The kind's schema is large, so writing a status
	// takes the API server several times longer than creating a Job: flows side by side would slow each other.
	statusDelay = time.Second
)

// pass is one call of Plan; its methods are the steps. The first group of fields is its input, and steps must not change it. What the steps
// find out beside the states of the nodes are values that they return: observed and decision.
type pass struct {
	flow  *v1alpha1.JobFlow
	spec  *v1alpha1.JobFlowSpec
	last  v1alpha1.JobFlowStatus // the recorded status, without what a retry resets
	view  builder.View
	now   metav1.Time // to the second, as the API keeps it
	retry int32       // the retry that new Jobs are created in
	*graph.Graph
	recorded record.Record // the record before this pass

	// The states of the nodes. Only these change from step to step.
	record.Record
	findings     map[int]finding
	blockers     []blocker
	items        map[int]*items.Run    // the items of nodes with forEach, by index
	itemSizes    map[int]itemsSize     // what they take of the status
	lists        map[string]items.List // outputs that a forEach runs over, by node
	outputs      outputs.Set           // what nodes wrote that other nodes read
	failure      int                   // a node whose failure fails the flow, other than those in finally; -1 if there is none
	ended        int                   // number of nodes that have ended in this pass
	active       int                   // number of Jobs that haven't ended, with those to be created
	requeueAfter time.Duration         // 0: the next pass comes when something changes
	urgent       bool                  // the next step needs the status, so it can't be written later
}

// finding is what this pass has found out about a node, beside its state. A node that hasn't changed has none.
type finding struct {
	message string
	job     *batchv1.Job
	ended   *metav1.Time
}

// newPass returns the pass over a flow, with the record as the states of the nodes.
func newPass(flow *v1alpha1.JobFlow, view builder.View) *pass {
	retry := currentRetry(flow)
	g := graph.Of(view.Context(), flow, retry)
	p := &pass{
		flow: flow, spec: &flow.Spec, last: flow.Status, view: view, retry: retry, Graph: g,
		now:      metav1.NewTime(view.Now).Rfc3339Copy(),
		recorded: record.Read(&flow.Status, g.NameHashes, flow.Status.ObservedGeneration == flow.Generation),
		findings: map[int]finding{},
		failure:  -1,
		lists:    map[string]items.List{},
		outputs:  outputs.Of(flow.Status.Outputs),
	}
	p.dropReadded()
	if retry != flow.Status.Retry {
		p.beginRetry()
	}
	p.Record = p.recorded.Clone()
	for i, s := range p.States {
		if s == record.Failed && p.isFlow(i) && !p.mayFail(i) {
			p.failure = i
			break
		}
	}
	return p
}

// withStatus adds a status to a plan, if it differs from the recorded one.
func (p *pass) withStatus(plan builder.Plan[*v1alpha1.JobFlow], status *v1alpha1.JobFlowStatus) builder.Plan[*v1alpha1.JobFlow] {
	clearFormerNames(status)
	status.ObservedGeneration = p.flow.Generation
	p.conditions(status).Observe()
	sortConditions(status.Conditions)
	change := func() *v1alpha1.JobFlow {
		changed := *p.flow
		changed.Status = *status
		return &changed
	}
	return lifecycle.WithStatus(plan, &p.flow.Status, status, change, statusDelay, func() bool {
		return !p.urgent && onlyCountsChanged(&p.flow.Status, status)
	})
}

// isValid reports whether the spec can be carried out.
func (p *pass) isValid() bool { return len(p.Problems) == 0 }

// isFlow reports whether a node is one of spec.flows, or was removed from the spec.
func (p *pass) isFlow(i int) bool { return i < p.NumFlows || i >= p.Size() }

// node returns a node by its index.
func (p *pass) node(i int) *v1alpha1.Flow { return graph.Node(p.spec, i) }

// nameOf returns the name of a node, also of one that was removed from the spec.
func (p *pass) nameOf(i int) string {
	if i < p.Size() {
		return p.Names[i]
	}
	if f := p.findings[i]; f.job != nil {
		return f.job.Labels[LabelFlow]
	}
	return "(removed from the spec)"
}

// end sets the state of a node that has ended, and the digest by which its record is found after an edit of the spec.
func (p *pass) end(i int, s record.State, f finding) {
	p.States[i] = s
	p.findings[i] = f
	p.ended++
	if !s.HasRun() {
		return
	}
	if s == record.Failed && p.failure < 0 && p.isFlow(i) && !p.mayFail(i) {
		p.failure = i
	}
	switch {
	case i >= p.Size(): // a removed node has a digest
	case f.job != nil:
		p.Digests[i] = record.NodeDigest{Name: p.NameHashes[i], Spec: record.HashDigest(f.job.Annotations[AnnotationStartedAs])}
	default:
		p.Digests[i] = record.NodeDigest{Name: p.NameHashes[i], Spec: record.HashDigest(record.Digest(p.node(i)))}
	}
}

// requeueIn has the next pass come after a time, or earlier.
func (p *pass) requeueIn(d time.Duration) { p.requeueAfter = lifecycle.Soonest(p.requeueAfter, d) }
