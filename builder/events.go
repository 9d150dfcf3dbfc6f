package builder

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/events"
)

// changeEvent returns the event about changes of one kind and operation.
func changeEvent(changes []Change) events.Event {
	const shown = 3
	first := changes[0]
	ev := events.Event{Type: corev1.EventTypeNormal, Reason: first.Reason, Action: events.ActionApply, Related: first.object}
	if first.Reason == events.ReasonDeleted {
		ev.Action = events.ActionPrune
	}
	if len(changes) == 1 {
		ev.Note = fmt.Sprintf("%s %s %s", first.Reason, first.Key.Kind, first.Key.Name)
		return ev
	}
	var names []string
	for _, c := range changes[:min(shown, len(changes))] {
		names = append(names, c.Key.Name)
	}
	ev.Note = fmt.Sprintf("%s %d objects of kind %s: %s", first.Reason, len(changes), first.Key.Kind, strings.Join(names, ", "))
	if more := len(changes) - shown; more > 0 {
		ev.Note += fmt.Sprintf(" and %d more", more)
	}
	return ev
}

// failureEvent returns the event about an error.
func failureEvent(err error) events.Event {
	ev := events.Warning(failureReason(err), summarize(err))
	ev.Action = events.ActionApply
	if cause := (*Error)(nil); errors.As(err, &cause) && cause.object != nil {
		ev.Related = cause.object
	}
	return ev
}

// failureReason returns the reason of an error in events and conditions.
func failureReason(err error) string {
	switch {
	case errors.Is(err, ErrMisuse):
		return events.ReasonInvalidPlan
	case errors.Is(err, ErrNotOwned):
		return events.ReasonNotOwned
	case errors.As(err, new(*inflight.Hold)):
		return events.ReasonQuarantined
	case errors.As(err, new(observationFailed)):
		return events.ReasonObservationFailed
	default:
		return events.ReasonApplyFailed
	}
}

// emitWaiting emits an event when a plan begins to wait, or waits for something else. It compares with the owner's condition Ready, so
// that a restart of the process repeats no event.
func (r *reconciler[T]) emitWaiting(owner T, res Result, err error) {
	conditioned, ok := any(owner).(Conditioned)
	if !ok || err != nil || len(res.planWaitsFor) == 0 || client.Object(owner).GetDeletionTimestamp() != nil {
		return
	}
	message := res.waitingMessage()
	if res.outcome(nil).Message != message {
		return // a more urgent event
	}
	before := meta.FindStatusCondition(*conditioned.Conditions(), events.ConditionReady)
	if before == nil || before.Reason != events.ReasonWaiting || before.Message != message {
		r.engine.emit(owner, events.Normal(events.ReasonWaiting, message))
	}
}

// emitCorrections emits an event about the fields that the builder removed from a child so that the API server accepts the desired
// state, and about fields that may also need removal.
func (p *pass) emitCorrections(w *apply.Write) {
	if p.engine.dry {
		return
	}
	if w.Untried != nil && w.Operation != "" {
		ev := events.Warning(events.ReasonDryRunRefused, fmt.Sprintf(
			"Applied %s %s without resetting the values that the API server derived from changed fields: the trial of a new object was refused: %s",
			w.Desired.Key.Kind, w.Desired.Key.Name, text.Shorten(w.Untried.Error(), text.MaxSummary/8)))
		ev.Action, ev.Related = events.ActionApply, w.Stored
		p.engine.emit(p.owner, ev)
	}
	if len(w.Corrected) == 0 {
		return
	}
	removed := text.List("", w.Corrected, func(c fieldmanager.Removal) string {
		return fmt.Sprintf("%s, set by the field manager %q", c.Path, c.Manager)
	})
	p.engine.emit(p.owner, events.Event{
		Type: corev1.EventTypeNormal, Reason: events.ReasonDriftCorrected, Action: events.ActionApply, Related: w.Observed,
		Note: fmt.Sprintf("Put %s %s back: removed %s, which the API server refuses beside the desired fields",
			w.Desired.Key.Kind, w.Desired.Key.Name, removed),
	})
}

// leftEvent returns the event about fields that stay in an object, and how to remove them.
func leftEvent(l apply.FieldsLeft, c Change) events.Event {
	const most = 6
	shown := l.Fields[:min(most, len(l.Fields))]
	fields := strings.Join(shown, ", ")
	if more := len(l.Fields) - most; more > 0 {
		fields += fmt.Sprintf(" and %d more", more)
	}
	owned := "OwnedOnly: true, "
	if c.Reason == events.ReasonAdopted {
		owned = ""
	}
	why := fmt.Sprintf("which aren't desired: field manager %s has set them. If that is a former version of this program, give the child "+
		"builder.Adopt(builder.AdoptOptions{%sFormerManagers: []string{%q}}), and they go", l.Manager, owned, l.Manager)
	if l.Manager == "" {
		why = "which the API server lets no one remove from an existing object: desire it as it is, or delete the object"
	}
	ev := events.Warning(events.ReasonFieldsLeft, fmt.Sprintf("%s %s keeps %s, %s", c.Key.Kind, c.Key.Name, fields, why))
	ev.Action = events.ActionApply
	return ev.About(c.object)
}
