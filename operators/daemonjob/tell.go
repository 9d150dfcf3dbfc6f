package daemonjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/message"
)

// tell returns events for what is in the new status and wasn't in the last.
func tell(job *v1alpha1.DaemonJob, after v1alpha1.DaemonJobStatus, nodes *survey, v verdict) []events.Event {
	before := &job.Status
	var told []events.Event
	say := func(event events.Event) { told = append(told, event) }
	switch {
	case isRetried(job, after):
		say(events.Normal(v1alpha1.ReasonRetried, fmt.Sprintf("retry %d: what failed is run again, and what never ran", after.Retry)))
	case before.StartTime == nil && after.StartTime != nil:
		say(events.Normal(v1alpha1.ReasonStarted, "started for "+message.Count(nodes.desired(), "node")))
	case isSuspended(&after) && !isSuspended(before):
		say(events.Normal(v1alpha1.ReasonSuspended, "no Jobs are started, and those that run are suspended"))
	case before.ActiveSince == nil && after.ActiveSince != nil:
		say(events.Normal(v1alpha1.ReasonResumed, "the job goes on"))
	case before.ObservedGeneration != job.Generation && nodes.active()+nodes.ended() > 0:
		say(events.Normal(v1alpha1.ReasonSpecChanged, fmt.Sprintf(
			"what the change says of Jobs holds for nodes that have had none yet; %s stays as it is", message.Count(nodes.active()+nodes.ended(), "Job"))))
	}
	for i, f := range nodes.newFailures {
		if i == message.MaxListed {
			say(events.Warning(v1alpha1.ReasonJobFailed, fmt.Sprintf("and %s more failed", message.Count(len(nodes.newFailures)-i, "node"))))
			break
		}
		say(events.Warning(v1alpha1.ReasonJobFailed, describeFailure(f.NodeFailure)).About(f.job))
	}
	is := meta.FindStatusCondition(after.Conditions, events.ConditionReady)
	was := meta.FindStatusCondition(before.Conditions, events.ConditionReady)
	isNew := was == nil || was.Reason != is.Reason
	switch is.Reason {
	case v1alpha1.ReasonSucceeded:
		say(events.Normal(v1alpha1.ReasonSucceeded, is.Message))
	case v1alpha1.ReasonInvalidSpec:
		if isNew || was.Message != is.Message {
			say(events.Warning(is.Reason, is.Message))
		}
	case v1alpha1.ReasonPaused, v1alpha1.ReasonPodsRefused:
		if isNew {
			say(events.Warning(is.Reason, is.Message))
		}
	case v1alpha1.ReasonNoMatchingNodes, v1alpha1.ReasonNodesUnavailable:
		if isNew {
			say(events.Normal(is.Reason, is.Message))
		}
	}
	if v.end == v1alpha1.StateFailed {
		say(events.Warning(v1alpha1.ReasonFailed, is.Message))
	}
	return told
}

// changeIgnored is the event of a spec that was changed too late.
func changeIgnored(job *v1alpha1.DaemonJob) events.Event {
	how := "create a new DaemonJob to run it"
	if job.Status.State == v1alpha1.StateFailed {
		how = fmt.Sprintf("set retry to %d to run what failed, and what never ran, with it", job.Status.Retry+1)
	}
	return events.Warning(v1alpha1.ReasonChangeIgnored, fmt.Sprintf(
		"the job has ended (%s), so the change of its spec has no effect; %s", job.Status.State, how))
}
