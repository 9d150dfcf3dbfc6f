package daemonjob

import (
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

// events returns the events of the transitions from the recorded status to a new one.
func (p *pass) events(after v1alpha1.DaemonJobStatus, nodes *observed, d decision) []events.Event {
	job, before := p.job, &p.job.Status
	var all []events.Event
	emit := func(event events.Event) { all = append(all, event) }
	switch {
	case isRetried(job, after):
		emit(events.Normal(v1alpha1.ReasonRetried, fmt.Sprintf("retry %d runs the failed and unstarted nodes", after.Retry)))
	case before.StartTime == nil && after.StartTime != nil:
		emit(events.Normal(v1alpha1.ReasonStarted, "started for "+message.Count(nodes.desired(), "node")))
	case isSuspended(&after) && !isSuspended(before):
		emit(events.Normal(v1alpha1.ReasonSuspended, "no Jobs are started, and those that run are suspended"))
	case before.ActiveSince == nil && after.ActiveSince != nil:
		emit(events.Normal(v1alpha1.ReasonResumed, "the job is resumed"))
	case before.ObservedGeneration != job.Generation && nodes.active()+nodes.ended() > 0:
		emit(events.Normal(v1alpha1.ReasonSpecChanged,
			fmt.Sprintf("the change applies to nodes without a Job; the spec of %s stays as it was",
				message.Count(nodes.active()+nodes.ended(), "Job"))))
	}
	for i, f := range nodes.newFailures {
		if i == message.MaxListed {
			emit(events.Warning(v1alpha1.ReasonJobFailed, fmt.Sprintf("and %s more failed", message.Count(len(nodes.newFailures)-i, "node"))))
			break
		}
		emit(events.Warning(v1alpha1.ReasonJobFailed, describeFailure(f.NodeFailure)).About(f.job))
	}
	ready := lifecycle.Condition(after.Conditions, events.ConditionReady)
	last := lifecycle.Condition(before.Conditions, events.ConditionReady)
	isNew := last.Reason != ready.Reason
	switch ready.Reason {
	case v1alpha1.ReasonSucceeded:
		emit(events.Normal(v1alpha1.ReasonSucceeded, ready.Message))
	case v1alpha1.ReasonInvalidSpec:
		if isNew || last.Message != ready.Message {
			emit(events.Warning(ready.Reason, ready.Message))
		}
	case v1alpha1.ReasonPaused, v1alpha1.ReasonPodsRefused:
		if isNew {
			emit(events.Warning(ready.Reason, ready.Message))
		}
	case v1alpha1.ReasonNoMatchingNodes, v1alpha1.ReasonNodesUnavailable:
		if isNew {
			emit(events.Normal(ready.Reason, ready.Message))
		}
	}
	if d.end == v1alpha1.StateFailed {
		emit(events.Warning(v1alpha1.ReasonFailed, ready.Message))
	}
	return all
}
