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
	all = append(all, conditionEvents(before, status, v1alpha1.ConditionSuspended, metav1.ConditionTrue, events.Normal)...)
	all = append(all, conditionEvents(before, status, v1alpha1.ConditionSuspended, metav1.ConditionFalse, events.Normal)...)
	all = append(all, conditionEvents(before, status, v1alpha1.ConditionStopped, metav1.ConditionTrue, events.Warning)...)
	all = append(all, conditionEvents(before, status, v1alpha1.ConditionEditRefused, metav1.ConditionTrue, events.Warning)...)
	all = append(all, p.blockerEvents(before, status)...)
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

// conditionEvents returns an event with the reason and the message of a condition that has changed to a value, or changed its message.
func conditionEvents(
	before, after *v1alpha1.JobFlowStatus, kind string, value metav1.ConditionStatus, event func(reason, note string) events.Event,
) []events.Event {
	was, is := lifecycle.Condition(before.Conditions, kind), lifecycle.Condition(after.Conditions, kind)
	if is.Status != value || (was.Status == value && was.Message == is.Message) {
		return nil
	}
	return []events.Event{event(is.Reason, is.Message)}
}

// blockerEvents returns one event for each reason of blockers, or for an invalid spec, if the condition Ready has changed.
func (p *pass) blockerEvents(before, after *v1alpha1.JobFlowStatus) []events.Event {
	was, is := lifecycle.Condition(before.Conditions, events.ConditionReady), lifecycle.Condition(after.Conditions, events.ConditionReady)
	isEdited := is.Reason == v1alpha1.ReasonInvalidSpec && p.flow.Generation != before.ObservedGeneration
	if was.Reason == is.Reason && was.Message == is.Message && !isEdited {
		return nil
	}
	if is.Reason == v1alpha1.ReasonInvalidSpec && !p.isValid() {
		return []events.Event{events.Warning(is.Reason, is.Message)}
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
	var all []events.Event
	more := 0
	for i, s := range p.States {
		switch {
		case s != record.Failed || (i < len(p.recorded.States) && p.recorded.States[i] == record.Failed):
		case len(all) == message.MaxListed:
			more++
		default:
			note := failure(p.nameOf(i), p.findings[i].message)
			if p.mayFail(i) {
				note += " (allowFailure: it doesn't fail the JobFlow)"
			}
			event := events.Warning(v1alpha1.ReasonJobFailed, message.CutJSON(note, maxMessage))
			if job := p.findings[i].job; job != nil {
				event = event.About(job)
			}
			all = append(all, event)
		}
	}
	if more > 0 {
		all = append(all, events.Warning(v1alpha1.ReasonJobFailed, fmt.Sprintf("and %d more", more)))
	}
	return all
}
