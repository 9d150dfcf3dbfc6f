package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/telemetry"
)

// noteRequests makes the engine note the requests of recorded passes.
func (e *Engine) noteRequests() {
	if counting, ok := e.client.(telemetry.Client); ok {
		counting.Client = flight.Client{Client: counting.Client}
		e.client = counting
	}
	e.live = flight.Reader{Reader: e.live}
}

// recordPass hands a pass that wrote or failed to the flight recorder.
func (r *reconciler[T]) recordPass(p *operatorPass[T]) {
	requests := p.requests.All()
	if p.err == nil && !flight.Wrote(requests) {
		return
	}
	record := flight.Pass{
		Operator: r.engine.name, Scheme: r.engine.client.Scheme(),
		Owner: p.owner, Now: p.view.Now, Observed: p.view.observed, PlanErr: p.planErr,
		Result: p.result, Err: p.err, Requests: requests,
	}
	if p.plan != nil {
		record.Plan = new(p.plan.recorded())
	}
	r.recorder.RecordPass(record)
}

// recorded returns the parts of the plan that a record has.
func (plan Plan[T]) recorded() flight.Plan {
	r := flight.Plan{
		Prune: plan.Prune, PruneAll: plan.PruneAll, Delete: plan.Delete, Rollout: plan.Rollout,
		StatusCanWait: plan.StatusCanWait, Report: plan.Report, WaitingFor: plan.WaitingFor, HasFinish: plan.Finish != nil,
		Events: plan.Events, DeleteOwner: plan.DeleteOwner, RequeueAfter: plan.RequeueAfter,
	}
	for _, c := range plan.Children {
		r.Children = append(r.Children, flight.Child{Child: c.desired, Run: c.run})
	}
	for _, e := range plan.Edits {
		r.Edits = append(r.Edits, flight.Edit{Before: e.Before, After: e.After, Replicas: e.Replicas, Foreign: e.Foreign})
	}
	if !kinds.IsNil(plan.Status) {
		r.Status = plan.Status
	}
	return r
}

// kindsRead returns empty objects of the kinds that the plan reads.
func (o *Operator[T]) kindsRead() []client.Object {
	var all []client.Object
	for _, owned := range o.owned {
		all = append(append(all, owned.like), owned.dependents...)
	}
	for _, w := range o.watches {
		all = append(all, w.like)
	}
	return all
}

func init() {
	flight.PlanOf = func(plan any) flight.Plan { return plan.(interface{ recorded() flight.Plan }).recorded() }
	flight.Kinds = func(operator any) []client.Object {
		return operator.(interface{ kindsRead() []client.Object }).kindsRead()
	}
}
