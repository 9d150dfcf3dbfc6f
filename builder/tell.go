package builder

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// tell emits what a pass did: one event for each operation and kind, however many objects there are.
// A conflict is no news: the pass is tried again.
func (e *Engine) tell(owner client.Object, res Result, err error) {
	for start := 0; start < len(res.Changes); {
		end := start + 1
		for end < len(res.Changes) && sameDeed(res.Changes[start], res.Changes[end]) {
			end++
		}
		e.emit(owner, changeEvent(res.Changes[start:end]))
		start = end
	}
	switch reason := failureReason(err); reason {
	case "":
		if err == nil {
			e.forgetFailure(owner.GetUID())
		}
	default:
		ev := events.Warning(reason, summarize(err))
		ev.Action = events.ActionApply
		e.emitFailure(owner, ev)
	}
}

func sameDeed(a, b Change) bool {
	return a.Operation == b.Operation && a.Key.GroupKind() == b.Key.GroupKind()
}

// changeEvent tells of changes of one kind and operation.
func changeEvent(changes []Change) events.Event {
	const shown = 3
	first := changes[0]
	ev := events.Event{Type: corev1.EventTypeNormal, Reason: string(first.Operation), Action: events.ActionApply}
	if first.Operation == OperationDeleted {
		ev.Action = events.ActionPrune
	}
	if len(changes) == 1 {
		ev.Note = fmt.Sprintf("%s %s %s", first.Operation, first.Key.Kind, first.Key.Name)
		ev.Related = first.object
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
	ev.Related = first.object
	return ev
}

// failureReason says as what an error is told, empty for those that are not news.
func failureReason(err error) string {
	switch {
	case err == nil || isConflict(err):
		return ""
	case errors.Is(err, ErrNotOwned):
		return events.ReasonNotOwned
	default:
		return events.ReasonApplyFailed
	}
}

// isConflict reports whether err is nothing but conflicts: someone else wrote first, and the next pass sees it.
func isConflict(err error) bool {
	all := leaves(err)
	for _, leaf := range all {
		if !apierrors.IsConflict(leaf) {
			return false
		}
	}
	return len(all) > 0
}
