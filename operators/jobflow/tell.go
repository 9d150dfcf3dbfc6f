package jobflow

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

// transitions returns the events of a flow under way: what is in the new status and wasn't in the last.
func transitions(flow *v1alpha1.JobFlow, status *v1alpha1.JobFlowStatus, w walk, known records) []events.Event {
	var told []events.Event
	if flow.Status.StartTime == nil {
		told = append(told, events.Normal(v1alpha1.ReasonStarted, "started with "+countFlows(len(w.nodes))))
	}
	told = append(told, obstaclesMet(w.obstacles, known)...)
	told = append(told, jobsFailed(w.nodes, known)...)
	if status.CompletionTime == nil {
		return told
	}
	if status.State == v1alpha1.StateSucceed {
		return append(told, events.Normal(v1alpha1.ReasonSucceeded, allSucceeded(len(w.nodes))))
	}
	return append(told, events.Warning(v1alpha1.ReasonFailed, failures(w.nodes)))
}

// obstaclesMet returns one event for each reason why nodes wait now that didn't wait for the same thing before. The
// nodes' own messages are compared: the flow's conditions may tell of something else in between.
func obstaclesMet(obstacles []obstacle, known records) []events.Event {
	var told []events.Event
	for _, reason := range []string{v1alpha1.ReasonJobTemplateNotFound, v1alpha1.ReasonInvalidSpec} {
		var met []obstacle
		for _, o := range obstacles {
			if o.reason == reason && known.was(o.node).Message != o.message {
				met = append(met, o)
			}
		}
		if len(met) > 0 {
			told = append(told, events.Warning(reason, list(met, obstacle.String)))
		}
	}
	return told
}

// jobsFailed returns an event for each node whose Job has failed since the last pass. If there are many, the last of
// them counts the rest.
func jobsFailed(nodes []v1alpha1.FlowStatus, known records) []events.Event {
	var told []events.Event
	more := 0
	for _, node := range nodes {
		switch {
		case node.State != v1alpha1.FlowFailed || known.was(node.Name).State == v1alpha1.FlowFailed:
		case len(told) == maxListed:
			more++
		default:
			event := events.Warning(v1alpha1.ReasonJobFailed, failure(node))
			if job := known.jobs[node.Job]; job != nil {
				event = event.About(job)
			}
			told = append(told, event)
		}
	}
	if more > 0 {
		told = append(told, events.Warning(v1alpha1.ReasonJobFailed, fmt.Sprintf("and %d more", more)))
	}
	return told
}

// specRefused returns the event of an invalid spec, unless it was told of this generation before.
func specRefused(flow *v1alpha1.JobFlow, message string) []events.Event {
	before := meta.FindStatusCondition(flow.Status.Conditions, builder.ConditionReady)
	if before != nil && before.Reason == v1alpha1.ReasonInvalidSpec && before.Message == message && before.ObservedGeneration == flow.Generation {
		return nil
	}
	return []events.Event{events.Warning(v1alpha1.ReasonInvalidSpec, message)}
}

// changeIgnored is the event of a spec that was changed too late.
func changeIgnored(flow *v1alpha1.JobFlow) events.Event {
	return events.Warning(v1alpha1.ReasonChangeIgnored, fmt.Sprintf(
		"the flow has ended (%s), so the change of its spec has no effect; create a new JobFlow to run it", flow.Status.State))
}

// countFlows renders a number of flows.
func countFlows(n int) string {
	if n == 1 {
		return "1 flow"
	}
	return fmt.Sprintf("%d flows", n)
}

func allSucceeded(n int) string {
	if n == 1 {
		return "the flow's only Job succeeded"
	}
	return fmt.Sprintf("all %d flows succeeded", n)
}
