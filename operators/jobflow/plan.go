package jobflow

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// Plan says which Jobs a flow should have now, and what its status is. It is a [builder.PlanFunc].
//
// Only Jobs to be created are among the plan's children. Those that exist are left as they are.
func Plan(flow *v1alpha1.JobFlow, seen builder.View) builder.Plan[*v1alpha1.JobFlow] {
	now := metav1.NewTime(seen.Now).Rfc3339Copy() // as precise as the API server keeps it
	known := recordsOf(flow, builder.Owned[*batchv1.Job](seen), now)
	switch {
	case flow.DeletionTimestamp != nil:
		return terminating(flow, now)
	case flow.Status.CompletionTime != nil:
		return over(flow, known)
	}
	g := compile(flow.Spec.Flows)
	if problems := validate(flow, g); len(problems) > 0 {
		return invalid(flow, problems, known)
	}
	return proceed(flow, walkGraph(flow, g, known, seen), known)
}

// terminating is the plan of a flow that is being deleted: its Jobs go with it.
func terminating(flow *v1alpha1.JobFlow, now metav1.Time) builder.Plan[*v1alpha1.JobFlow] {
	status := flow.Status.DeepCopy()
	status.State = v1alpha1.StateTerminating
	setCondition(status, flow, now, builder.ConditionReady, metav1.ConditionFalse,
		v1alpha1.ReasonTerminating, "the JobFlow is being deleted")
	return planOf(flow, status)
}

// over is the plan of a flow that has ended: nothing runs any more, whatever becomes of its Jobs and its spec.
func over(flow *v1alpha1.JobFlow, known records) builder.Plan[*v1alpha1.JobFlow] {
	status := flow.Status.DeepCopy()
	for i := range status.Conditions {
		status.Conditions[i].ObservedGeneration = flow.Generation
	}
	plan := planOf(flow, status)
	plan.Delete, plan.RequeueAfter = expire(status.Flows, known)
	if flow.Status.ObservedGeneration != flow.Generation {
		plan.Events = append(plan.Events, changeIgnored(flow))
	}
	return plan
}

// invalid is the plan of a flow whose spec can't be carried out: nothing is started. Jobs that were started before the
// spec became invalid run on, and their ends are recorded.
func invalid(flow *v1alpha1.JobFlow, problems []problem, known records) builder.Plan[*v1alpha1.JobFlow] {
	status := flow.Status.DeepCopy()
	for i := range status.Flows {
		if before := &status.Flows[i]; before.State != v1alpha1.FlowSkipped {
			status.Flows[i] = known.of(before.Name, JobName(flow.Name, before.Name))
		}
	}
	if status.StartTime == nil {
		status.State = v1alpha1.StateFailed
	}
	message := shorten(list(problems, problem.String))
	stall(status, flow, known.now, v1alpha1.ReasonInvalidSpec, message)
	plan := planOf(flow, status)
	plan.Delete, plan.RequeueAfter = expire(status.Flows, known)
	plan.Events = append(jobsFailed(status.Flows, known), specRefused(flow, message)...)
	return plan
}

// proceed is the plan of a flow under way.
func proceed(flow *v1alpha1.JobFlow, w walk, known records) builder.Plan[*v1alpha1.JobFlow] {
	status := statusOf(flow, w, known.now)
	plan := planOf(flow, status)
	plan.Children = w.start
	plan.Delete, plan.RequeueAfter = expire(status.Flows, known)
	plan.Events = transitions(flow, status, w, known)
	return plan
}

// planOf returns a plan with a status, if it is news.
func planOf(flow *v1alpha1.JobFlow, status *v1alpha1.JobFlowStatus) builder.Plan[*v1alpha1.JobFlow] {
	status.ObservedGeneration = flow.Generation
	if equality.Semantic.DeepEqual(status, &flow.Status) {
		return builder.Plan[*v1alpha1.JobFlow]{}
	}
	changed := flow.DeepCopy()
	changed.Status = *status
	return builder.Plan[*v1alpha1.JobFlow]{Status: changed}
}
