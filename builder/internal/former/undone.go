package former

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/events"
)

// Undone is how far an owner has returned to its former state.
type Undone struct {
	To     string // the name of the state
	Reason string // of package events; ReasonUndone when it is done
	Why    string // what is wrong, or what it waits for
}

// FinishedUndo returns the undo to a state that an earlier pass has completed, nil if there is none.
func FinishedUndo(conditions []metav1.Condition, to string) *Undone {
	is := meta.FindStatusCondition(conditions, events.ConditionUndone)
	if is == nil || is.Reason != events.ReasonUndone || is.Message != to {
		return nil
	}
	return &Undone{To: to, Reason: is.Reason}
}

// SetUndone sets the condition Undone; nil removes it.
func SetUndone(conditions *[]metav1.Condition, u *Undone, generation int64, now time.Time) {
	switch {
	case u == nil:
		meta.RemoveStatusCondition(conditions, events.ConditionUndone)
	case u.Reason == events.ReasonUndone:
		meta.SetStatusCondition(conditions, status.Condition(events.ConditionUndone, true, u.Reason, u.To, generation, now))
	default:
		meta.SetStatusCondition(conditions, status.Condition(events.ConditionUndone, false, u.Reason, u.Why, generation, now))
	}
}

// Event returns the event about an owner that has returned to its former state, or can't; false for one that waits.
func (u *Undone) Event() (ev events.Event, ok bool) {
	switch u.Reason {
	case events.ReasonUndone:
		return events.Normal(u.Reason, "returned to the state before the last disruptive change, "+u.To+"; the object is paused"), true
	case events.ReasonUndoFailed:
		return events.Warning(u.Reason, u.Why), true
	default:
		return ev, false
	}
}
