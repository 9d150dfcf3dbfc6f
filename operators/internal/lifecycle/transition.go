package lifecycle

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/message"
)

// IsTransition reports whether a condition was added, removed, or changed in its status, reason or observed generation. A change
// of messages alone is none: messages contain counts, and a status that differs only in counts may be written later.
func IsTransition(before, after []metav1.Condition) bool {
	if len(before) != len(after) {
		return true
	}
	return slices.ContainsFunc(after, func(c metav1.Condition) bool {
		b := Condition(before, c.Type)
		return b.Status != c.Status || b.Reason != c.Reason || b.ObservedGeneration != c.ObservedGeneration
	})
}

// Transition is a condition before and after a pass. An object without the condition has an empty one.
type Transition struct{ Before, After metav1.Condition }

// TransitionOf returns the transition of a condition from the recorded status to a new one.
func TransitionOf(before, after []metav1.Condition, kind string) Transition {
	return Transition{Condition(before, kind), Condition(after, kind)}
}

// To reports whether the condition gets a status that it didn't have before.
func (t Transition) To(status metav1.ConditionStatus) bool {
	return t.After.Status == status && t.Before.Status != status
}

// IsReasonNew reports whether the reason has changed.
func (t Transition) IsReasonNew() bool { return t.Before.Reason != t.After.Reason }

// IsTextNew reports whether the reason or the message has changed.
func (t Transition) IsTextNew() bool { return t.IsReasonNew() || t.Before.Message != t.After.Message }

// Events returns an event with the condition's reason and message if the condition has the status, and has changed to it or has
// changed its message.
func (t Transition) Events(status metav1.ConditionStatus, event func(reason, note string) events.Event) []events.Event {
	if t.After.Status != status || !t.To(status) && t.Before.Message == t.After.Message {
		return nil
	}
	return []events.Event{event(t.After.Reason, t.After.Message)}
}

// EventsOfFirst returns an event for each of the first few things, and one that counts the rest.
func EventsOfFirst[T any](things []T, event func(T) events.Event, ofRest func(n int) events.Event) []events.Event {
	listed := min(len(things), message.MaxListed)
	all := make([]events.Event, 0, listed+1)
	for _, thing := range things[:listed] {
		all = append(all, event(thing))
	}
	if n := len(things) - listed; n > 0 {
		all = append(all, ofRest(n))
	}
	return all
}
