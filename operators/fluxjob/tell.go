package fluxjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
)

// told returns the events of what is in the new status and wasn't in the last.
func (p *step) told() []events.Event {
	before, after := &p.job.Status, p.status
	var all []events.Event
	tell := func(e events.Event) {
		if p.cluster != nil {
			e = e.About(p.cluster)
		}
		all = append(all, e)
	}
	if after.Attempts > before.Attempts && after.Admission != nil && after.Admission.Queue != "" {
		tell(events.Normal(v1alpha1.ReasonAdmitted, fmt.Sprintf("admitted by queue %q: %s", after.Queue,
			much(needs.NumberOfPods, int64(after.Admission.Pods)))))
	}
	if why := newEviction(before.Admission, after.Admission); why != nil {
		tell(eviction(why))
	}
	if before.Admission != nil && after.Admission == nil && after.CompletionTime == nil && after.State != v1alpha1.FluxJobRequested {
		tell(events.Normal(v1alpha1.ReasonRequeued, "the pods are gone, and what they used was given back"))
	}
	if after.State == v1alpha1.FluxJobRunning && before.State != v1alpha1.FluxJobRunning {
		tell(events.Normal(v1alpha1.ReasonRunning, "the command runs"))
	}
	if ready := p.changedReason(); ready != nil && after.CompletionTime == nil && isObstacle(ready.Reason) {
		tell(events.Warning(ready.Reason, ready.Message))
	}
	if after.CompletionTime != nil && before.CompletionTime == nil {
		finished := meta.FindStatusCondition(after.Conditions, v1alpha1.ConditionJobFinished)
		if after.State == v1alpha1.FluxJobSucceeded {
			tell(events.Normal(finished.Reason, finished.Message))
		} else {
			tell(events.Warning(finished.Reason, finished.Message))
		}
	}
	return all
}

// newEviction returns why the share must be given back, if that is news. That of an invalid spec is an obstacle.
func newEviction(before, after *v1alpha1.FluxAdmission) *v1alpha1.FluxEviction {
	if after == nil || after.Evicted == nil || after.Evicted.Reason == v1alpha1.ReasonInvalidSpec || (before != nil && before.Evicted != nil) {
		return nil
	}
	return after.Evicted
}

func eviction(why *v1alpha1.FluxEviction) events.Event {
	if why.Reason == v1alpha1.ReasonSuspended {
		return events.Normal(why.Reason, why.Message)
	}
	return events.Warning(why.Reason, why.Message)
}

// changedReason returns the condition Ready if it says something else than before about the same or an older spec.
func (p *step) changedReason() *metav1.Condition {
	before := meta.FindStatusCondition(p.job.Status.Conditions, events.ConditionReady)
	after := meta.FindStatusCondition(p.status.Conditions, events.ConditionReady)
	if after == nil || (before != nil && before.Reason == after.Reason && before.Message == after.Message &&
		before.ObservedGeneration == after.ObservedGeneration) {
		return nil
	}
	return after
}

// isObstacle reports whether a reason is one that someone must do something about.
func isObstacle(reason string) bool {
	switch reason {
	case v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonQueueNotFound, v1alpha1.ReasonQueueInvalid, v1alpha1.ReasonQueueManagedElsewhere,
		v1alpha1.ReasonNamespaceNotAllowed, v1alpha1.ReasonExceedsMaximumQuota, v1alpha1.ReasonMiniClusterBlocked:
		return true
	default:
		return false
	}
}

// tellOfChange says, once, that a change of the spec doesn't concern the MiniCluster that runs.
func (p *step) tellOfChange() {
	if seen := p.job.Status.ObservedGeneration; seen == 0 || seen == p.job.Generation {
		return
	}
	if p.cluster.Annotations[AnnotationSpec] != p.render().Annotations[AnnotationSpec] || !p.stillNeeded() { // the size is part of the share
		p.plan.Events = append(p.plan.Events, events.Warning(v1alpha1.ReasonChangeIgnored,
			"the job runs as it was started; the change of its spec takes effect when it is admitted the next time"))
	}
}
