package builder

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// isPaused reports whether someone has paused an owner, by its annotation. A terminating owner isn't paused, because its deletion was
// asked for, too, and may need the removal of a finalizer.
func isPaused(owner client.Object) bool {
	return owner.GetAnnotations()[wellknown.AnnotationPaused] == "true" && owner.GetDeletionTimestamp() == nil
}

// pause reports on a paused owner that nothing else is written. It runs instead of a pass.
func (l *loop[T]) pause(ctx context.Context, owner T) error {
	if _, ok := any(owner).(Conditioned); !ok {
		return nil
	}
	if err := l.leaveTurns(ctx, client.ObjectKeyFromObject(owner), false); err != nil {
		return err
	}
	_, written, err := l.writeStatus(ctx, owner, Plan[T]{Report: true}, Result{paused: true}, nil, l.now())
	if written != nil {
		l.engine.emit(owner, events.Event{
			Type: corev1.EventTypeNormal, Reason: events.ReasonPausedByAnnotation, Action: events.ActionApply, Note: pausedMessage,
		})
	}
	return err
}

const pausedMessage = "the operator writes nothing while the annotation " + wellknown.AnnotationPaused + " is \"true\""

// setPaused sets or removes the condition Paused.
func (r Result) setPaused(conditions *[]metav1.Condition, generation int64, now time.Time) {
	if !r.paused {
		meta.RemoveStatusCondition(conditions, events.ConditionPaused)
		return
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: events.ConditionPaused, Status: metav1.ConditionTrue, Reason: events.ReasonPausedByAnnotation, Message: pausedMessage,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// withoutPause returns an owner whose conditions, which its plan sets, don't say that it is paused.
func withoutPause[T client.Object](after T) T {
	conditioned, ok := any(after).(Conditioned)
	if !ok || meta.FindStatusCondition(*conditioned.Conditions(), events.ConditionPaused) == nil {
		return after
	}
	after = withOwnConditions(after)
	meta.RemoveStatusCondition(any(after).(Conditioned).Conditions(), events.ConditionPaused)
	return after
}
