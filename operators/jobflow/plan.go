package jobflow

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// Plan says which Jobs a flow should have now, and what its status is. It is a [builder.PlanFunc].
//
// Only Jobs to be created are among the plan's children. Those that exist are left as they are, but for their
// suspension.
func Plan(flow *v1alpha1.JobFlow, seen builder.View) builder.Plan[*v1alpha1.JobFlow] {
	switch {
	case !lifecycle.IsOurs(flow.Spec.ManagedBy):
		return builder.Plan[*v1alpha1.JobFlow]{}
	case flow.DeletionTimestamp != nil:
		return terminating(flow, seen)
	}
	p := newPass(flow, seen, attempt(flow))
	status := copyOf(&flow.Status)
	switch {
	case hasEndedBefore(flow):
		return p.takeOver(status)
	case p.retry != flow.Status.Retry:
		p.beginRetry(status)
	case flow.Status.CompletionTime != nil:
		return p.over(status)
	}
	p.observe()
	p.inferEnds()
	p.refuseEdits(status)
	if len(p.Problems) > 0 {
		if status.StartTime != nil {
			p.suspend(status)
		}
		p.stop(status)
		return p.conclude(status)
	}
	p.suspend(status)
	p.stop(status)
	p.decide()
	p.decideFinally(status)
	return p.conclude(status)
}

// terminating is the plan of a flow that is being deleted: its Jobs go with it.
func terminating(flow *v1alpha1.JobFlow, seen builder.View) builder.Plan[*v1alpha1.JobFlow] {
	p := &pass{flow: flow, now: metav1.NewTime(seen.Now).Rfc3339Copy()}
	status := copyOf(&flow.Status)
	status.State = v1alpha1.StateTerminating
	p.conditions(status).Terminate("JobFlow")
	return p.planOf(status)
}

// conclude is the plan of a flow under way, or at its end.
func (p *pass) conclude(status *v1alpha1.JobFlowStatus) builder.Plan[*v1alpha1.JobFlow] {
	edits := p.suspendJobs()
	p.describe(status)
	plan := p.planOf(status)
	plan.Children, plan.Edits = p.start, edits
	plan.Delete = append(p.stopping(), p.expired()...)
	plan.Events = p.tell(status)
	plan.RequeueAfter = p.again
	if plan.Status != nil && !p.urgent && isCalm(&p.flow.Status, status) {
		plan.StatusCanWait = patience
	}
	return plan
}

// copyOf returns a status whose fields can be set. What they point to is shared.
func copyOf(s *v1alpha1.JobFlowStatus) *v1alpha1.JobFlowStatus {
	c := *s
	c.Conditions = slices.Clone(s.Conditions)
	return &c
}

// planOf returns a plan with a status, if it is news.
func (p *pass) planOf(status *v1alpha1.JobFlowStatus) builder.Plan[*v1alpha1.JobFlow] {
	clearFormerNames(status)
	status.ObservedGeneration = p.flow.Generation
	p.conditions(status).Observe()
	slices.SortStableFunc(status.Conditions, func(a, b metav1.Condition) int { // however they came about
		return cmp.Compare(slices.Index(conditionOrder, a.Type), slices.Index(conditionOrder, b.Type))
	})
	if equality.Semantic.DeepEqual(status, &p.flow.Status) {
		return builder.Plan[*v1alpha1.JobFlow]{}
	}
	changed := *p.flow
	changed.Status = *status
	return builder.Plan[*v1alpha1.JobFlow]{Status: &changed}
}
