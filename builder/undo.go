package builder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Before a pass disrupts children, it keeps their state for an undo: see package undo. The order makes that safe. The builder creates the
// ControllerRevision, then names it in the owner's status, and only a pass that finds it there changes the children.

// stateKept is the error that ends a pass which has kept the state of children, under this name, instead of changing them.
type stateKept string

func (stateKept) Error() string {
	return "the former state of the children is kept; the next pass changes them"
}

// noteSteady remembers a pass that has carried out the spec, or has found nothing to do.
func (p *pass) noteSteady(err error) {
	if err != nil || !p.pruned {
		return
	}
	ready := meta.FindStatusCondition(*p.owner.(Conditioned).Conditions(), events.ConditionReady)
	isReady := ready == nil || ready.Status == metav1.ConditionTrue
	p.engine.memory.Steady.Note(p.owner, len(p.result.Changes) == 0 && len(p.result.Pending) == 0 && isReady)
}

// keepChanged keeps the state of children before writes that disrupt them, together with that of the others that change with them.
// Without undo it keeps nothing.
func (p *pass) keepChanged(ctx context.Context, writes []*apply.Write) error {
	if p.undo == nil {
		return nil
	}
	children, disruptive, err := p.cluster.Formers(writes)
	if err != nil || !disruptive {
		return err
	}
	return p.keepFormer(ctx, children)
}

// keepDeleted keeps the state of children before they are pruned.
func (p *pass) keepDeleted(ctx context.Context, stale []client.Object) error {
	if len(stale) == 0 || p.engine.memory.Steady.IsCarriedOut(p.owner) {
		return nil
	}
	children, err := p.cluster.FormersOfDeleted(stale)
	if err != nil || len(children) == 0 {
		return err
	}
	return p.keepFormer(ctx, children)
}

// keepFormer makes sure that the state that the owner's status names has these children. It returns a [stateKept] if the status must name
// another one first.
func (p *pass) keepFormer(ctx context.Context, children []former.Child) error {
	state := former.State{
		Cause: former.Cause{Generation: p.owner.GetGeneration(), Build: p.undo.Build}, PruneAll: p.pruneAll, Children: children,
	}
	named := status.NameIn(*p.owner.(Conditioned).Conditions(), events.ConditionUndoable)
	name, err := p.formers().Keep(ctx, named, p.engine.memory.Steady.IsQuiet(p.owner), state)
	if err != nil || name == "" {
		return err
	}
	p.engine.memory.Steady.Forget(p.owner)
	return stateKept(name)
}

// formers returns the record of the owner's former states.
func (p *pass) formers() *former.Record {
	return &former.Record{Objects: p.revisions()}
}

// recordFormer writes the name of the kept state to the owner's status. It runs instead of the rest of a pass.
func (r *reconciler[T]) recordFormer(ctx context.Context, p *operatorPass[T], owner T, kept stateKept) (reconcile.Result, error) {
	r.engine.emitResult(owner, "", p.finish(nil), nil)
	after := withConditions(owner, func(conditions *[]metav1.Condition) {
		former.SetName(conditions, string(kept), owner.GetGeneration(), r.now())
	})
	p.err = r.engine.writeChangedStatus(ctx, owner, after)
	return r.next(ctx, owner, conflictDelay, p.err)
}

// undo returns an owner's children to the state that its annotation names, once: afterwards the owner is only paused. The error is one
// after which the caller tries again. After a crash it begins again: to restore a child again changes nothing.
func (r *reconciler[T]) undo(ctx context.Context, owner T) (*former.Undone, error) {
	to := owner.GetAnnotations()[wellknown.AnnotationUndo]
	if to == "" {
		return nil, nil
	}
	if u := former.FinishedUndo(*any(owner).(Conditioned).Conditions(), to); u != nil {
		return u, nil
	}
	u := &former.Undone{To: to, Reason: events.ReasonUndone}
	err := r.restore(ctx, owner, to)
	if err == nil {
		return u, nil
	}
	if errors.Is(err, errWaitsForDeletion) {
		u.Reason, u.Why = events.ReasonWaiting, err.Error()
		return u, nil
	}
	if isConflict(err) {
		return nil, err
	}
	u.Reason, u.Why = events.ReasonUndoFailed, summarize(err)
	if IsTerminal(err) || errors.As(err, new(undoError)) {
		return u, nil
	}
	return u, err
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
	if kept := status.NameIn(*any(owner).(Conditioned).Conditions(), events.ConditionUndoable); kept != name {
		return cantUndo("annotation %s is %q; the state that is kept, in the condition %s, is %q",
			wellknown.AnnotationUndo, name, events.ConditionUndoable, kept)
	}
	p, err := r.engine.newPass(owner)
	if err != nil {
		return err
	}
	record := p.formers()
	object, err := record.Get(ctx, name)
	if err != nil {
		return publicError(err)
	}
	if object == nil {
		return cantUndo("ControllerRevision %s, which had the former state, is gone", name)
	}
	state, err := record.StateOf(object)
	switch {
	case err != nil:
		return cantUndo("%w", err)
	case state.Omitted:
		return cantUndo("the former state was too large to be kept")
	}
	writes, err := r.restoring(ctx, p, state)
	if err == nil && state.PruneAll {
		err = p.recordRestored(ctx, writes)
	}
	if err == nil {
		err = p.write(ctx, writes)
	}
	err = publicError(err)
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
		if !r.ownsKind(child.Key().GroupKind()) {
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
		observed, err := p.observed.Find(ctx, d.Kind, d.Key)
		if err != nil {
			return nil, err
		}
		w, err := p.cluster.Compare(d, observed)
		if err != nil {
			return nil, err
		}
		writes = append(writes, w)
	}
	return writes, nil
}

// ownsKind reports whether the operator owns a kind in the owner's namespace.
func (r *reconciler[T]) ownsKind(gk schema.GroupKind) bool {
	all := slices.Clone(r.owned.Load().kinds)
	if r.byName != nil {
		for _, k := range r.byName.Kinds() {
			all = append(all, k.Kind)
		}
	}
	return slices.ContainsFunc(all, func(k kinds.Kind) bool { return k.GVK.GroupKind() == gk })
}

// recordRestored records the kinds of restored children on the owner, so that the plan prunes those that it doesn't desire once the owner
// isn't paused any more.
func (p *pass) recordRestored(ctx context.Context, writes []*apply.Write) error {
	restored := p.pruner.Inventory.Kinds.Clone()
	for _, w := range writes {
		restored.Insert(w.Desired.Key.GroupKind())
	}
	if restored.Equal(p.pruner.Inventory.Kinds) {
		return nil
	}
	return p.pruner.WriteKinds(ctx, restored, p.pruner.Inventory.CrossNamespace)
}

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
	var after time.Duration
	var turnErr error // which doesn't keep a user from an undo
	if r.turns != nil {
		halts := false
		if halts, turnErr = r.turns.Pause(ctx, owner); halts {
			after = haltedPoll
		}
	}
	u, undoErr := r.undo(ctx, owner)
	if undoErr != nil && u == nil {
		return r.next(ctx, owner, 0, undoErr)
	}
	was := slices.Clone(*conditioned.Conditions())
	_, written, err := r.writeStatus(ctx, owner, Plan[T]{Report: true}, Result{paused: true, undone: u}, nil, r.now())
	if written != nil && !meta.IsStatusConditionTrue(was, events.ConditionPaused) {
		r.engine.emit(owner, events.Event{
			Type: corev1.EventTypeNormal, Reason: events.ReasonPausedByAnnotation, Action: events.ActionApply, Note: pausedMessage,
		})
	}
	if written != nil && u != nil {
		if ev, ok := u.Event(); ok {
			r.engine.emit(owner, ev)
		}
	}
	if u != nil && u.Reason == events.ReasonWaiting {
		after = waitForDeletion
	}
	return r.next(ctx, owner, after, errors.Join(turnErr, undoErr, err))
}

const pausedMessage = "the operator writes nothing while the annotation " + wellknown.AnnotationPaused + " is \"true\""
