package builder

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// diffOwner returns what a pass would change in the owner itself: its status, and whether the plan deletes it. res is the rest of a dry
// pass that had no error. A roll-out of a new build is none of the owner's changes: which turn it gets depends on other owners.
func (r *reconciler[T]) diffOwner(ctx context.Context, dry *Engine, owner T, plan Plan[T], res Result) ([]Change, error) {
	now := r.now()
	var after T
	var err error
	panicErr := withoutPanic(ctx, "Plan.Finish", func() { after, err = statusAfter(owner, plan, res, nil, now) })
	if err = errors.Join(panicErr, err); err != nil {
		return nil, err
	}
	after = withUndoable(owner, after)
	if conditioned, ok := any(owner).(Conditioned); ok {
		after = withMark(owner, after, turns.MarkOf(*conditioned.Conditions()), now)
	}
	changes, err := dry.diffStatus(ctx, owner, after)
	if err != nil || !plan.DeleteOwner || owner.GetDeletionTimestamp() != nil {
		return changes, err
	}
	return append(changes, Change{Key: r.owner.Key(owner), Reason: events.ReasonDeleted}), dry.deleteOwner(ctx, owner, nil)
}

// diffPaused returns what a pass over a paused owner would change: its condition. What an undo that someone has asked for would restore
// isn't part of it.
func (r *reconciler[T]) diffPaused(ctx context.Context, dry *Engine, owner T) (Result, error) {
	res := Result{paused: true}
	if _, ok := any(owner).(Conditioned); !ok {
		return res, nil
	}
	if to := owner.GetAnnotations()[wellknown.AnnotationUndo]; to != "" {
		if res.undone = finishedUndo(owner, to); res.undone == nil {
			return res, nil
		}
	}
	var err error
	res.Changes, err = r.diffOwner(ctx, dry, owner, Plan[T]{Report: true}, res)
	return res, err
}

// diffStatus returns the change of an owner's status, as the API server would store it. It is empty if only times differ.
func (e *Engine) diffStatus(ctx context.Context, owner, after client.Object) ([]Change, error) {
	if same, err := status.Same(owner, after); same || err != nil {
		return nil, err
	}
	fields, err := statusDiff(owner, after)
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	stored, err := e.patchStatus(ctx, owner, after)
	switch {
	case isConflict(err): // it has just changed, and the next pass observes that
	case err != nil:
		return nil, err
	case stored != nil:
		fields, err = statusDiff(owner, stored)
	}
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	k, err := e.kinds.Of(owner)
	return []Change{{Key: k.Key(owner), Reason: events.ReasonUpdated, Fields: fields}}, err
}

// statusDiff returns the fields in which two statuses differ, without times that replace times and without the transition times of
// conditions: they follow from the other fields, or say that nothing else has changed.
func statusDiff(before, after client.Object) ([]FieldDiff, error) {
	was, errWas := status.Fields(before)
	is, errIs := status.Fields(after)
	if err := errors.Join(errWas, errIs); err != nil {
		return nil, err
	}
	changes := slices.DeleteFunc(delta.Between(was, is), func(c delta.Change) bool {
		return isTime(c.Old) && isTime(c.New) || strings.HasSuffix(c.Path, "].lastTransitionTime")
	})
	var fields []FieldDiff
	for _, c := range changes {
		fields = append(fields, FieldDiff{Path: c.Path, Old: c.Old, New: c.New})
	}
	return fields, nil
}

func isTime(value any) bool {
	text, ok := value.(string)
	if !ok {
		return false
	}
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}
