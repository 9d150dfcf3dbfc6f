package builder

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// isPaused reports whether someone has paused an owner, by its annotations. A terminating owner isn't paused, because its deletion was
// asked for, too, and may need the removal of a finalizer.
func isPaused(owner client.Object) bool {
	return wellknown.IsPaused(owner.GetAnnotations()) && owner.GetDeletionTimestamp() == nil
}

// pause returns a paused owner to its former state, if someone has asked for that, and reports that nothing else is written. It runs
// instead of a pass.
func (r *reconciler[T]) pause(ctx context.Context, owner T) (reconcile.Result, error) {
	conditioned, ok := any(owner).(Conditioned)
	if !ok {
		return reconcile.Result{}, nil
	}
	if r.turns != nil { // a paused owner keeps its turn
		if err := r.turns.Leave(ctx, client.ObjectKeyFromObject(owner)); err != nil {
			return r.next(ctx, 0, err)
		}
	}
	u, undoErr := r.undo(ctx, owner)
	if undoErr != nil && u == nil {
		return r.next(ctx, 0, undoErr)
	}
	was := slices.Clone(*conditioned.Conditions())
	_, written, err := r.writeStatus(ctx, owner, Plan[T]{Report: true}, Result{paused: true, undone: u}, nil, r.now())
	if written != nil && !meta.IsStatusConditionTrue(was, events.ConditionPaused) {
		r.engine.emit(owner, events.Event{
			Type: corev1.EventTypeNormal, Reason: events.ReasonPausedByAnnotation, Action: events.ActionApply, Note: pausedMessage,
		})
	}
	if written != nil && u != nil {
		r.emitUndone(owner, u)
	}
	after := time.Duration(0)
	if u != nil && u.reason == events.ReasonWaiting {
		after = waitForDeletion
	}
	return r.next(ctx, after, errors.Join(undoErr, err))
}

const pausedMessage = "the operator writes nothing while the annotation " + wellknown.AnnotationPaused + " is \"true\""

// setPaused sets or removes the condition Paused.
func (r Result) setPaused(conditions *[]metav1.Condition, generation int64, now time.Time) {
	if !r.paused {
		meta.RemoveStatusCondition(conditions, events.ConditionPaused)
		return
	}
	meta.SetStatusCondition(conditions,
		status.Condition(events.ConditionPaused, true, events.ReasonPausedByAnnotation, pausedMessage, generation, now))
}
