package builder

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// tell emits what was done in a scope of a pass: one event for each operation and kind, however many objects there are.
// A conflict is no news: the pass is tried again.
func (e *Engine) tell(owner client.Object, scope string, res Result, err error) {
	if e.dry {
		return
	}
	e.tellChanges(owner, res.Changes)
	e.tellChanges(owner, res.kept)
	e.emitContests(owner, res.begun, res.ended)
	key := failureKey{owner.GetUID(), scope}
	switch {
	case err == nil:
		e.memory.failures.over(key)
	case isConflict(err):
	default:
		if ev := failureEvent(err); e.memory.failures.news(key, ev) {
			e.emit(owner, ev)
		}
	}
}

func (e *Engine) tellChanges(owner client.Object, changes []Change) {
	for start := 0; start < len(changes); {
		end := start + 1
		for end < len(changes) && sameDeed(changes[start], changes[end]) {
			end++
		}
		e.emit(owner, changeEvent(changes[start:end]))
		for _, change := range changes[start:end] {
			for _, left := range change.left {
				e.emit(owner, left.event(change))
			}
		}
		start = end
	}
}

func sameDeed(a, b Change) bool {
	return a.Operation == b.Operation && a.Key.GroupKind() == b.Key.GroupKind()
}

// changeEvent tells of changes of one kind and operation.
func changeEvent(changes []Change) events.Event {
	const shown = 3
	first := changes[0]
	ev := events.Event{Type: corev1.EventTypeNormal, Reason: string(first.Operation), Action: events.ActionApply, Related: first.object}
	if first.Operation == OperationDeleted {
		ev.Action = events.ActionPrune
	}
	if len(changes) == 1 {
		ev.Note = fmt.Sprintf("%s %s %s", first.Operation, first.Key.Kind, first.Key.Name)
		return ev
	}
	var names []string
	for _, c := range changes[:min(shown, len(changes))] {
		names = append(names, c.Key.Name)
	}
	ev.Note = fmt.Sprintf("%s %d objects of kind %s: %s", first.Operation, len(changes), first.Key.Kind, strings.Join(names, ", "))
	if more := len(changes) - shown; more > 0 {
		ev.Note += fmt.Sprintf(" and %d more", more)
	}
	return ev
}

// failureEvent tells of an error.
func failureEvent(err error) events.Event {
	ev := events.Warning(failureReason(err), summarize(err))
	ev.Action = events.ActionApply
	if cause := (*Error)(nil); errors.As(err, &cause) && cause.object != nil {
		ev.Related = cause.object
	}
	return ev
}

// failureReason says as what an error is told, in events and conditions.
func failureReason(err error) string {
	switch wrong := (planError{}); {
	case errors.As(err, &wrong):
		return events.ReasonInvalidPlan
	case errors.Is(err, ErrNotOwned):
		return events.ReasonNotOwned
	case errors.As(err, new(quarantined)):
		return events.ReasonQuarantined
	default:
		return events.ReasonApplyFailed
	}
}
