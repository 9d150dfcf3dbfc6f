package builder

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Diff returns the result that Reconcile would return now, and writes nothing. The result's Changes have the fields that would differ;
// its String method shows them. The API server runs each write as a dry run, so the result includes its defaults, its admission and
// its errors: Diff returns the errors that Reconcile would return, and beside them the rest of the result. An unchanged object costs
// no request, another one costs one; an object that was created and never changed since may cost two. Diff emits no events and counts
// no metrics.
//
// A dry run needs the permissions of the write. The API server refuses an object that depends on one that doesn't exist yet, such as
// an object in a namespace that the pass would create.
func (b *Builder) Diff(ctx context.Context) (Result, error) {
	dry := *b
	dry.engine = b.engine.dryRun()
	res, err := dry.Reconcile(ctx)
	return res, errors.Join(addFields(res), err)
}

// Diff returns the result that the next pass over an owner would have, and writes nothing: see [Builder.Diff]. It calls External and the
// plan, and reads through the manager's cache, so the operator must be complete and its manager running. Of a roll-out it has the
// changes of the current phase; later phases are in Result.Pending. For an owner that doesn't exist the result is empty.
//
// The last changes are those of the owner itself: [events.ReasonUpdated] with the fields of the status that would differ, and
// [events.ReasonDeleted] if the plan deletes it. A status of which only times differ isn't a change. After an error Diff doesn't compare
// the status.
func (o *Operator[T]) Diff(ctx context.Context, owner types.NamespacedName) (Result, error) {
	if o.completed == nil {
		return Result{}, fmt.Errorf("operator %s: %w: Diff before Complete", o.name, ErrMisuse)
	}
	return o.completed.reconciler.diff(ctx, owner)
}

// diff runs a pass over an owner whose writes are dry runs.
func (r *reconciler[T]) diff(ctx context.Context, key types.NamespacedName) (Result, error) {
	dry := r.engine.dryRun()
	owner := newOwner[T]()
	if err := dry.client.Get(ctx, key, owner); err != nil {
		return Result{}, client.IgnoreNotFound(err)
	}
	if isPaused(owner) {
		return r.diffPaused(ctx, dry, owner)
	}
	p, err := r.newOperatorPass(dry, owner)
	if err != nil {
		return Result{}, err
	}
	var plan Plan[T]
	view, planErr := r.observe(ctx, p.pass, owner, nil)
	ends := owner.GetDeletionTimestamp() != nil && (planErr == nil || isOnlyForPlan(planErr))
	if planErr = publicError(planErr); planErr == nil {
		plan, planErr = r.makePlan(ctx, owner, view.WithContext(ctx))
	}
	// As in Reconcile: the end of an owner needs neither a plan nor what only a plan reads.
	if planErr != nil && !ends {
		return Result{}, planErr
	}
	p.instructions = plan.instructions()
	err = publicError(errors.Join(planErr, p.carryOut(ctx)))
	res := p.finish(err)
	if errors.Is(err, apply.ErrOwnerGone) {
		return Result{}, nil
	}
	if held := waitsForTurn(p.pass); held != nil {
		res.Pending = append(res.Pending, *held)
	}
	if err = errors.Join(addFields(res), err); err != nil {
		return res, err
	}
	res.planWaitsFor = plan.WaitingFor
	own, err := r.diffOwner(ctx, dry, owner, plan, res)
	res.Changes = append(res.Changes, own...)
	return res, err
}

// addFields adds to the changes of a dry run the fields that differ.
func addFields(res Result) error {
	for i := range res.Changes {
		c := &res.Changes[i]
		if c.write == nil {
			continue
		}
		c.Drift = c.write.IsDrift()
		changes, err := c.write.Diff()
		if err != nil {
			return err
		}
		c.write = nil // the result outlives the pass
		for _, change := range changes {
			c.Fields = append(c.Fields, FieldDiff(change))
		}
	}
	return nil
}

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
	after = withConditions(after, func(conditions *[]metav1.Condition) {
		turns.MarkOf(*any(owner).(Conditioned).Conditions()).Set(conditions, owner.GetGeneration(), now)
		former.KeepName(conditions, *any(owner).(Conditioned).Conditions())
	})
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
	conditioned, ok := any(owner).(Conditioned)
	if !ok {
		return res, nil
	}
	if to := owner.GetAnnotations()[wellknown.AnnotationUndo]; to != "" {
		if res.undone = former.FinishedUndo(*conditioned.Conditions(), to); res.undone == nil {
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

// statusDiff returns the fields in which two statuses differ.
func statusDiff(before, after client.Object) ([]FieldDiff, error) {
	changes, err := status.Diff(before, after)
	var fields []FieldDiff
	for _, c := range changes {
		fields = append(fields, FieldDiff(c))
	}
	return fields, err
}
