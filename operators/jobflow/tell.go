package jobflow

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// tell returns the events of a pass: what is in the new status and wasn't in the last.
func (p *pass) tell(status *v1alpha1.JobFlowStatus) []events.Event {
	before := &p.flow.Status
	var told []events.Event
	switch {
	case before.StartTime == nil && status.StartTime != nil:
		told = append(told, events.Normal(v1alpha1.ReasonStarted, "started with "+message.Count(int(status.Counts.Total), "flow")))
	case before.Retry != status.Retry:
		told = append(told, events.Normal(v1alpha1.ReasonRetried, fmt.Sprintf("retry %d runs what failed or never ran; %s had succeeded",
			status.Retry, message.Count(int(before.Counts.Succeeded), "flow"))))
	}
	told = append(told, turned(before, status, v1alpha1.ConditionSuspended, metav1.ConditionTrue, events.Normal)...)
	told = append(told, turned(before, status, v1alpha1.ConditionSuspended, metav1.ConditionFalse, events.Normal)...)
	told = append(told, turned(before, status, v1alpha1.ConditionStopped, metav1.ConditionTrue, events.Warning)...)
	told = append(told, turned(before, status, v1alpha1.ConditionEditRefused, metav1.ConditionTrue, events.Warning)...)
	told = append(told, p.obstaclesMet(before, status)...)
	told = append(told, p.jobsFailed()...)
	if status.CompletionTime == nil {
		return told
	}
	ready := p.conditions(status).Find(events.ConditionReady)
	if status.State == v1alpha1.StateSucceed {
		return append(told, events.Normal(v1alpha1.ReasonSucceeded, ready.Message))
	}
	return append(told, events.Warning(v1alpha1.ReasonFailed, ready.Message))
}

// turned returns an event with the reason and the message of a condition that has come to a value, or whose message is
// another.
func turned(before, after *v1alpha1.JobFlowStatus, kind string, value metav1.ConditionStatus, event func(reason, note string) events.Event) []events.Event {
	was, is := meta.FindStatusCondition(before.Conditions, kind), meta.FindStatusCondition(after.Conditions, kind)
	if is == nil || is.Status != value || (was != nil && was.Status == value && was.Message == is.Message) {
		return nil
	}
	return []events.Event{event(is.Reason, is.Message)}
}

// obstaclesMet returns one event for each reason why nodes wait, or nothing can start, that the status didn't have yet.
func (p *pass) obstaclesMet(before, after *v1alpha1.JobFlowStatus) []events.Event {
	was, is := meta.FindStatusCondition(before.Conditions, events.ConditionReady), meta.FindStatusCondition(after.Conditions, events.ConditionReady)
	if is == nil || (was != nil && was.Reason == is.Reason && was.Message == is.Message && (is.Reason != v1alpha1.ReasonInvalidSpec || p.flow.Generation == before.ObservedGeneration)) {
		return nil
	}
	if is.Reason == v1alpha1.ReasonInvalidSpec && len(p.Problems) > 0 {
		return []events.Event{events.Warning(is.Reason, is.Message)}
	}
	var told []events.Event
	for _, reason := range []string{v1alpha1.ReasonJobTemplateNotFound, v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonEditRefused, v1alpha1.ReasonPodsRefused} {
		var met []obstacle
		for _, o := range p.obstacles {
			if o.reason == reason {
				met = append(met, o)
			}
		}
		if len(met) > 0 {
			told = append(told, events.Warning(reason, enumerate(met, obstacle.String)))
		}
	}
	return told
}

// jobsFailed returns an event for each node that has failed since the last pass. If there are many, the last of them
// counts the rest.
func (p *pass) jobsFailed() []events.Event {
	var told []events.Event
	more := 0
	for i, s := range p.States {
		switch {
		case s != record.Failed || (i < len(p.recorded.States) && p.recorded.States[i] == record.Failed):
		case len(told) == message.MaxListed:
			more++
		default:
			note := failure(p.nameOf(i), p.news[i].message)
			if p.mayFail(i) {
				note += " (allowFailure: it doesn't fail the JobFlow)"
			}
			event := events.Warning(v1alpha1.ReasonJobFailed, message.CutJSON(note, maxMessage))
			if job := p.news[i].job; job != nil {
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
