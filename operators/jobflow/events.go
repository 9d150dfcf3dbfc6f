package jobflow

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// events returns the events of the transitions from the recorded status to a new one.
func (p *pass) events(status *v1alpha1.JobFlowStatus) []events.Event {
	before := &p.flow.Status
	var all []events.Event
	switch {
	case before.StartTime == nil && status.StartTime != nil:
		all = append(all, events.Normal(v1alpha1.ReasonStarted, "started with "+message.Count(int(status.Counts.Total), "flow")))
	case before.Retry != status.Retry:
		all = append(all, events.Normal(v1alpha1.ReasonRetried, fmt.Sprintf("retry %d runs what failed or never ran; %s had succeeded",
			status.Retry, message.Count(int(before.Counts.Succeeded), "flow"))))
	}
	change := func(kind string) lifecycle.Transition {
		return lifecycle.TransitionOf(before.Conditions, status.Conditions, kind)
	}
	all = append(all, change(v1alpha1.ConditionSuspended).Events(metav1.ConditionTrue, events.Normal)...)
	all = append(all, change(v1alpha1.ConditionSuspended).Events(metav1.ConditionFalse, events.Normal)...)
	all = append(all, change(v1alpha1.ConditionStopped).Events(metav1.ConditionTrue, events.Warning)...)
	all = append(all, change(v1alpha1.ConditionEditRefused).Events(metav1.ConditionTrue, events.Warning)...)
	all = append(all, p.blockerEvents(change(events.ConditionReady))...)
	all = append(all, p.failureEvents()...)
	if status.CompletionTime == nil {
		return all
	}
	ready := p.conditions(status).Find(events.ConditionReady)
	if status.State == v1alpha1.StateSucceed {
		return append(all, events.Normal(v1alpha1.ReasonSucceeded, ready.Message))
	}
	return append(all, events.Warning(v1alpha1.ReasonFailed, ready.Message))
}

// blockerEvents returns one event for each reason of blockers, or for an invalid spec, if the condition Ready has changed.
func (p *pass) blockerEvents(ready lifecycle.Transition) []events.Event {
	isInvalid := ready.After.Reason == v1alpha1.ReasonInvalidSpec
	if isInvalid && !p.isValid() {
		return lifecycle.Refused(p.flow.Status.Conditions, p.flow.Generation, ready.After.Reason, ready.After.Message)
	}
	if isEdited := p.flow.Generation != p.flow.Status.ObservedGeneration; !ready.IsTextNew() && !(isInvalid && isEdited) {
		return nil
	}
	var all []events.Event
	for _, reason := range []string{
		v1alpha1.ReasonJobTemplateNotFound, v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonEditRefused, v1alpha1.ReasonPodsRefused,
	} {
		var blockers []blocker
		for _, b := range p.blockers {
			if b.reason == reason {
				blockers = append(blockers, b)
			}
		}
		if len(blockers) > 0 {
			all = append(all, events.Warning(reason, enumerate(blockers, blocker.String)))
		}
	}
	return all
}

// failureEvents returns an event for each node that has failed in this pass: for the first few, and one that counts the rest.
func (p *pass) failureEvents() []events.Event {
	var failed []int
	for i, s := range p.States {
		if s == record.Failed && (i >= len(p.recorded.States) || p.recorded.States[i] != record.Failed) {
			failed = append(failed, i)
		}
	}
	return lifecycle.EventsOfFirst(failed, p.failureEvent, func(n int) events.Event {
		return events.Warning(v1alpha1.ReasonJobFailed, fmt.Sprintf("and %d more", n))
	})
}

func (p *pass) failureEvent(i int) events.Event {
	note := failure(p.nameOf(i), p.findings[i].message)
	if p.mayFail(i) {
		note += " (allowFailure: it doesn't fail the JobFlow)"
	}
	event := events.Warning(v1alpha1.ReasonJobFailed, message.CutJSON(note, maxMessage))
	if job := p.findings[i].job; job != nil {
		event = event.About(job)
	}
	return event
}
