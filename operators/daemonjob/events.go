package daemonjob

import (
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

// events returns the events of the transitions from the recorded status to a new one.
func (p *pass) events(o *observed, d decision, after v1alpha1.DaemonJobStatus) []events.Event {
	job, before := p.job, &p.job.Status
	var all []events.Event
	emit := func(event events.Event) { all = append(all, event) }
	isStarted := before.StartTime == nil && after.StartTime != nil
	if isStarted && !isRetried(job, after) {
		emit(events.Normal(v1alpha1.ReasonStarted, "started for "+message.Count(o.desired(), "node")))
	}
	switch {
	case isRetried(job, after):
		emit(events.Normal(v1alpha1.ReasonRetried, fmt.Sprintf("retry %d runs the failed and unstarted nodes", after.Retry)))
	case isSuspended(&after) && !isSuspended(before):
		emit(events.Normal(v1alpha1.ReasonSuspended, "no Jobs are started, and those that run are stopped"))
	case isStarted:
	case before.ActiveSince == nil && after.ActiveSince != nil:
		emit(events.Normal(v1alpha1.ReasonResumed, "the job is resumed"))
	case before.ObservedGeneration != job.Generation && o.started() > 0:
		emit(events.Normal(v1alpha1.ReasonSpecChanged,
			fmt.Sprintf("the change applies to nodes without a Job; the spec of %s stays as it was",
				message.Count(o.started(), "Job"))))
	}
	all = append(all, lifecycle.EventsOfFirst(o.newFailures, failureEvent, func(n int) events.Event {
		return events.Warning(v1alpha1.ReasonJobFailed, fmt.Sprintf("and %s more failed", message.Count(n, "node")))
	})...)
	change := lifecycle.TransitionOf(before.Conditions, after.Conditions, events.ConditionReady)
	switch ready := change.After; ready.Reason {
	case v1alpha1.ReasonSucceeded:
		emit(events.Normal(v1alpha1.ReasonSucceeded, ready.Message))
	case v1alpha1.ReasonInvalidSpec:
		all = append(all, lifecycle.Refused(before.Conditions, job.Generation, ready.Reason, ready.Message)...)
	case v1alpha1.ReasonPaused, v1alpha1.ReasonPodsRefused:
		if change.IsReasonNew() {
			emit(events.Warning(ready.Reason, ready.Message))
		}
	case v1alpha1.ReasonNoMatchingNodes, v1alpha1.ReasonNodesUnavailable:
		if change.IsReasonNew() {
			emit(events.Normal(ready.Reason, ready.Message))
		}
	}
	if d.end == v1alpha1.StateFailed {
		emit(events.Warning(v1alpha1.ReasonFailed, change.After.Message))
	}
	return all
}

func failureEvent(f failure) events.Event {
	return events.Warning(v1alpha1.ReasonJobFailed, describeFailure(f.NodeFailure)).About(f.job)
}
