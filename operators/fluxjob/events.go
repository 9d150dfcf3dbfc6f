package fluxjob

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// events returns the events of the transitions from the recorded status to a new one.
func (p *pass) events(o *observed, d decision, after *v1alpha1.FluxJobStatus) []events.Event {
	before := &p.job.Status
	var all []events.Event
	if d.action == actionRun && p.ignoresChange(o) {
		all = append(all, events.Warning(v1alpha1.ReasonChangeIgnored,
			"the job runs as it was started; the change of its spec takes effect when it is admitted the next time"))
	}
	emit := func(e events.Event) {
		if o.cluster != nil {
			e = e.About(o.cluster)
		}
		all = append(all, e)
	}
	if d.action == actionAdmit && d.admission.Queue != "" {
		emit(events.Normal(v1alpha1.ReasonAdmitted, fmt.Sprintf("admitted by queue %q: %s", after.Queue,
			amountOf(needs.NumberOfPods, int64(d.admission.Pods)))))
	}
	if a := after.Admission; a != nil && a.Evicted != nil && (before.Admission == nil || before.Admission.Evicted == nil) {
		switch a.Evicted.Reason {
		case v1alpha1.ReasonInvalidSpec: // an event of the condition Ready, below
		case v1alpha1.ReasonSuspended:
			emit(events.Normal(a.Evicted.Reason, a.Evicted.Message))
		default:
			emit(events.Warning(a.Evicted.Reason, a.Evicted.Message))
		}
	}
	if d.action == actionRequeue {
		emit(events.Normal(v1alpha1.ReasonRequeued, "the pods are gone, and what they used was given back"))
	}
	if after.State == v1alpha1.FluxJobRunning && before.State != v1alpha1.FluxJobRunning {
		emit(events.Normal(v1alpha1.ReasonRunning, "the command runs"))
	}
	finished := lifecycle.Condition(after.Conditions, v1alpha1.ConditionJobFinished)
	ready := lifecycle.Condition(after.Conditions, events.ConditionReady)
	switch {
	case d.action == actionEnd && d.end.succeeded:
		emit(events.Normal(finished.Reason, finished.Message))
	case d.action == actionEnd:
		emit(events.Warning(finished.Reason, finished.Message))
	case needsUser(ready.Reason):
		for _, e := range lifecycle.Refused(before.Conditions, p.job.Generation, ready.Reason, ready.Message) {
			emit(e)
		}
	}
	limited := lifecycle.TransitionOf(before.Conditions, after.Conditions, v1alpha1.ConditionPriorityLimited)
	return append(all, limited.Events(metav1.ConditionTrue, events.Warning)...)
}

// needsUser reports whether nothing happens until a user changes the job, its queue, or what blocks its MiniCluster.
func needsUser(reason string) bool {
	switch reason {
	case v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonQueueNotFound, v1alpha1.ReasonQueueInvalid, v1alpha1.ReasonQueueManagedElsewhere,
		v1alpha1.ReasonNamespaceNotAllowed, v1alpha1.ReasonExceedsMaximumQuota, v1alpha1.ReasonMiniClusterBlocked:
		return true
	default:
		return false
	}
}

// ignoresChange reports whether the spec has changed since the last pass in a way that doesn't concern the MiniCluster that runs. The size
// is part of what the job holds, not of the comparison of specs.
func (p *pass) ignoresChange(o *observed) bool {
	last := p.job.Status.ObservedGeneration
	return o.runs() && last != 0 && last != p.job.Generation && (!p.isOfSpec(o.cluster) || !p.isStillNeeded(o))
}
