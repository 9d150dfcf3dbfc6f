package turns

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/events"
)

// Mark is what an owner's condition Released says. The zero value is no condition.
type Mark struct {
	// Reason is one of package events.
	Reason string
	// ID names the roll-out.
	ID string
	// Why is what the owner waits for; empty for nothing.
	Why string
	// Since is when the condition's status last changed.
	Since time.Time
}

// statuses are the condition's statuses by its reason.
var statuses = map[string]metav1.ConditionStatus{
	events.ReasonWaitingForTurn: metav1.ConditionFalse,
	events.ReasonReleasing:      metav1.ConditionUnknown,
	events.ReasonRolloutHalted:  metav1.ConditionUnknown,
	events.ReasonReleased:       metav1.ConditionTrue,
	events.ReasonChangedByUser:  metav1.ConditionTrue,
}

// MarkOf returns the mark of an owner's conditions.
func MarkOf(conditions []metav1.Condition) Mark {
	c := meta.FindStatusCondition(conditions, events.ConditionReleased)
	if c == nil {
		return Mark{}
	}
	id, why, _ := strings.Cut(c.Message, ": ")
	return Mark{Reason: c.Reason, ID: id, Why: why, Since: c.LastTransitionTime.Time}
}

// Set sets the condition, unless it says the same.
func (m Mark) Set(conditions *[]metav1.Condition, generation int64, now time.Time) {
	if MarkOf(*conditions) == m {
		return
	}
	if m.Reason == "" {
		meta.RemoveStatusCondition(conditions, events.ConditionReleased)
		return
	}
	if MarkOf(*conditions).ID != m.ID {
		meta.RemoveStatusCondition(conditions, events.ConditionReleased) // its time is that of another roll-out
	}
	message := m.ID
	if m.Why != "" {
		message += ": " + m.Why
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: events.ConditionReleased, Status: statuses[m.Reason], Reason: m.Reason, Message: message,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// Event returns the event about an owner that begins to wait, begins its turn, ends it, or halts the roll-out; false if nothing has
// changed.
func (m Mark) Event(was Mark) (events.Event, bool) {
	if m.Reason == was.Reason && m.ID == was.ID {
		return events.Event{}, false
	}
	switch m.Reason {
	case events.ReasonWaitingForTurn:
		return events.Normal(m.Reason, "a new build of the operator disrupts this object: "+m.Why+
			"; it waits for its turn in the roll-out "+m.ID), true
	case events.ReasonReleasing:
		return events.Normal(m.Reason, "its turn in the roll-out "+m.ID+" begins"), true
	case events.ReasonReleased:
		return events.Normal(m.Reason, "ready after its turn in the roll-out "+m.ID), true
	case events.ReasonRolloutHalted:
		return events.Warning(m.Reason, "other objects wait in the roll-out "+m.ID+": "+m.Why), true
	default:
		return events.Event{}, false
	}
}

// IsInTurn reports whether the owner is in its turn.
func (m Mark) IsInTurn() bool {
	return m.Reason == events.ReasonReleasing || m.Reason == events.ReasonRolloutHalted
}

// OfPaused returns what the mark means while the owner is paused. In its turn, the owner halts the roll-out: no pass can end the turn, or
// find it late. Otherwise nobody waits for the owner, nor it for others.
func (m Mark) OfPaused() Mark {
	if !m.IsInTurn() {
		return Mark{}
	}
	m.Reason, m.Why = events.ReasonRolloutHalted, strings.TrimSuffix("is paused; "+m.Why, "; ")
	return m
}

// IsWaiting reports whether the owner waits for its turn.
func (m Mark) IsWaiting() bool { return m.Reason == events.ReasonWaitingForTurn }

// isOver reports whether the owner needs no turn in a roll-out any more.
func (m Mark) isOver(id string) bool {
	return m.ID == id && (m.Reason == events.ReasonReleased || m.Reason == events.ReasonChangedByUser)
}

// isChangedByUser reports whether a user has changed the owner's spec since the operator last reported on it, or has created the owner.
// A report of the pause doesn't count, because a paused owner has no pass.
func isChangedByUser(generation int64, conditions []metav1.Condition) bool {
	var observed int64
	for i := range conditions {
		if conditions[i].Type != events.ConditionPaused {
			observed = max(observed, conditions[i].ObservedGeneration)
		}
	}
	return len(conditions) == 0 || observed > 0 && generation > observed
}
