package minicluster

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// events returns the events of the transitions from the recorded status to a new one.
func (p *pass) events(o *observed, d decision, s *v1alpha1.MiniClusterStatus) []events.Event {
	c, last := p.c, &p.c.Status
	var all []events.Event
	emit := func(e events.Event) { all = append(all, e) }
	if d.invalid == "" && last.StartTime == nil && last.ObservedGeneration != c.Generation {
		for _, note := range ignored(c) { // the webhook warns of them, too
			emit(events.Warning(v1alpha1.ReasonFieldIgnored, note))
		}
	}
	admitted := lifecycle.TransitionOf(last.Conditions, s.Conditions, v1alpha1.MiniClusterAdmitted)
	wasSuspended := admitted.Before.Reason == v1alpha1.ReasonSuspended ||
		admitted.Before.Reason == v1alpha1.ReasonPodsTerminating && last.State == v1alpha1.MiniClusterStateSuspended
	switch isNew := admitted.IsReasonNew(); {
	case last.StartTime == nil && s.StartTime != nil && !d.ends() && wasSuspended:
		emit(events.Normal(v1alpha1.ReasonResumed, "starts again with "+countPods(size(c))))
	case last.StartTime == nil && s.StartTime != nil && !d.ends():
		emit(events.Normal(v1alpha1.ReasonAdmitted, "starts with "+countPods(size(c))))
	case isNew && admitted.After.Reason == v1alpha1.ReasonSuspended:
		emit(events.Normal(v1alpha1.ReasonSuspended, "suspended"))
	case isNew && admitted.After.Reason == v1alpha1.ReasonQueued:
		emit(events.Normal(v1alpha1.ReasonQueued, "waits for Kueue to let it start"))
	}
	if d.action == actionRun {
		if d.failedWorker != nil && last.FailedWorker == nil { // others are in the status only: a node pool that goes takes many
			emit(events.Warning(v1alpha1.ReasonWorkerFailed, describeWorker(d.failedWorker)))
		}
		if d.invalid == "" && last.StartTime != nil && p.isResized(o.job) {
			emit(events.Normal(v1alpha1.ReasonScaled,
				fmt.Sprintf("from %s to %d", countPods(ptr.Deref(o.job.Spec.Parallelism, 0)), size(c))))
		}
	}
	if lost := lifecycle.TransitionOf(last.Conditions, s.Conditions, v1alpha1.MiniClusterCertificateLost); lost.To(metav1.ConditionTrue) {
		emit(events.Warning(lost.After.Reason, lost.After.Message))
	}
	running := lifecycle.TransitionOf(last.Conditions, s.Conditions, v1alpha1.MiniClusterRunning)
	switch {
	case running.To(metav1.ConditionTrue):
		emit(events.Normal(v1alpha1.ReasonRunning, running.After.Message).About(o.leader()))
	case running.IsReasonNew() && running.After.Reason == v1alpha1.ReasonPodsRefused:
		emit(events.Warning(v1alpha1.ReasonPodsRefused, "pods are refused: "+o.refused).About(o.job))
	}
	switch d.action {
	case actionRestart:
		emit(events.Warning(v1alpha1.ReasonRestarting, fmt.Sprintf("%s; starts again, %d of %d times",
			d.failure.message, s.Restarts, ptr.Deref(c.Spec.BackoffLimit, 0))))
	case actionSucceed:
		emit(events.Normal(p.end(o, d)))
	case actionFail:
		emit(events.Warning(p.end(o, d)))
	default:
		if d.invalid != "" {
			all = append(all, lifecycle.Refused(last.Conditions, c.Generation, v1alpha1.ReasonInvalidSpec, d.invalid)...)
		}
	}
	return all
}
