package builder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// undone is how far an owner has returned to its former state.
type undone struct {
	to     string // the name of the state
	reason string // of package events; ReasonUndone when it is done
	why    string // what is wrong, or what it waits for
}

// undo returns an owner's children to the state that its annotation names, once: afterwards the owner is only paused. The error is one
// after which the caller tries again. After a crash it begins again: to restore a child again changes nothing.
func (r *reconciler[T]) undo(ctx context.Context, owner T) (*undone, error) {
	to := owner.GetAnnotations()[wellknown.AnnotationUndo]
	if to == "" {
		return nil, nil
	}
	if u := finishedUndo(owner, to); u != nil {
		return u, nil
	}
	u := &undone{to: to, reason: events.ReasonUndone}
	err := r.restore(ctx, owner, to)
	if err == nil {
		return u, nil
	}
	if errors.Is(err, errWaitsForDeletion) {
		u.reason, u.why = events.ReasonWaiting, err.Error()
		return u, nil
	}
	if isConflict(err) {
		return nil, err
	}
	u.reason, u.why = events.ReasonUndoFailed, summarize(err)
	if IsTerminal(err) || errors.As(err, new(undoError)) {
		return u, nil
	}
	return u, err
}

// finishedUndo returns the undo to a state that an earlier pass has completed, nil if there is none.
func finishedUndo(owner client.Object, to string) *undone {
	is := meta.FindStatusCondition(*any(owner).(Conditioned).Conditions(), events.ConditionUndone)
	if is == nil || is.Reason != events.ReasonUndone || is.Message != to {
		return nil
	}
	return &undone{to: to, reason: is.Reason}
}

var errWaitsForDeletion = errors.New("an object of a child's name is still being deleted")

// undoError is an error after which only a user can do something.
type undoError struct{ error }

func cantUndo(format string, args ...any) error { return undoError{fmt.Errorf(format, args...)} }

// restore applies the children of a kept state.
func (r *reconciler[T]) restore(ctx context.Context, owner T, name string) error {
	if r.former == nil {
		return cantUndo("this operator keeps no former state; its author can switch it on by package builder/undo")
	}
	if kept := undoableIn(*any(owner).(Conditioned).Conditions()); kept != name {
		return cantUndo("annotation %s is %q; the state that is kept, in the condition %s, is %q",
			wellknown.AnnotationUndo, name, events.ConditionUndoable, kept)
	}
	p, err := r.engine.newPass(owner)
	if err != nil {
		return err
	}
	object, err := p.getFormer(ctx, name)
	if err != nil {
		return err
	}
	if object == nil {
		return cantUndo("ControllerRevision %s, which had the former state, is gone", name)
	}
	state, err := former.Read(object, former.Identity(r.engine.name, owner.GetUID()))
	switch {
	case err != nil:
		return cantUndo("%w", err)
	case state.Omitted:
		return cantUndo("the former state was too large to be kept")
	}
	writes, err := r.restoring(ctx, p, state)
	if err == nil {
		err = publicError(p.cluster.WriteAll(ctx, writes))
	}
	for _, w := range writes {
		p.record(w)
	}
	res := p.finish(err)
	r.engine.emitResult(owner, "", res, err)
	if err == nil && len(res.waiting()) > 0 {
		err = errWaitsForDeletion
	}
	return err
}

// restoring returns the writes that restore the children of a state. Secrets, whose values aren't kept, stay as they are.
func (r *reconciler[T]) restoring(ctx context.Context, p *pass, state former.State) ([]*apply.Write, error) {
	var writes []*apply.Write
	for i := range state.Children {
		child := &state.Children[i]
		if child.Payload == nil {
			continue
		}
		gk := child.Key().GroupKind()
		if !slices.ContainsFunc(r.owned.Load().kinds, func(k kinds.Kind) bool { return k.GVK.GroupKind() == gk }) {
			return nil, cantUndo("%s is of a kind that this operator doesn't own", child.Key())
		}
		like := apply.Child{}
		if child.Recreate != "" {
			like.Change().Recreate = &apply.Recreate{Dependents: child.Recreate}
		}
		d, err := p.cluster.Restore(&child.Child, like)
		if err != nil {
			return nil, cantUndo("%w", err)
		}
		observed, err := p.find(ctx, d.Kind, d.Key)
		if err != nil {
			return nil, err
		}
		w, err := p.cluster.Compare(d, observed)
		if err != nil {
			return nil, publicError(err)
		}
		writes = append(writes, w)
	}
	return writes, nil
}

// setUndone sets or removes the condition Undone.
func (r Result) setUndone(conditions *[]metav1.Condition, generation int64, now time.Time) {
	if r.undone == nil {
		meta.RemoveStatusCondition(conditions, events.ConditionUndone)
		return
	}
	is := metav1.Condition{
		Type: events.ConditionUndone, Status: metav1.ConditionFalse, Reason: r.undone.reason, Message: r.undone.why,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	}
	if is.Reason == events.ReasonUndone {
		is.Status, is.Message = metav1.ConditionTrue, r.undone.to
	}
	meta.SetStatusCondition(conditions, is)
}

// emitUndone emits an event when an owner has returned to its former state, or can't.
func (r *reconciler[T]) emitUndone(owner client.Object, u *undone) {
	switch u.reason {
	case events.ReasonUndone:
		r.engine.emit(owner, events.Normal(u.reason, "returned to the state before the last disruptive change, "+u.to+
			"; the object is paused"))
	case events.ReasonUndoFailed:
		r.engine.emit(owner, events.Warning(u.reason, u.why))
	}
}
