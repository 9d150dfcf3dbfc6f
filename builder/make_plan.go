package builder

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/events"
)

// planError says that a plan is wrong, so that nothing of it was carried out.
type planError struct{ error }

func (e planError) Unwrap() error { return e.error }

// WrongPlan lets buildertest know the error, which is the program's fault and not to be tolerated by a test.
func (e planError) WrongPlan() {}

// makePlan asks the plan what should exist. A plan that is wrong by itself comes with an error, and is empty: it was made
// from what isn't so, or can't be meant. As a plan is a pure function, a panic of it is an error that no retry mends.
func (l *loop[T]) makePlan(ctx context.Context, owner T, view View) (plan Plan[T], err error) {
	witnesses := l.guard.before(owner, view)
	plan, err = callPlan(ctx, l.plan, owner, view)
	if err == nil {
		err = errors.Join(view.misuse.err(), checkPlan(l.owned.Load().declared, owner, plan))
	}
	err = errors.Join(err, l.checkWitnesses(ctx, owner, witnesses))
	if err != nil {
		_, conditioned := any(owner).(Conditioned)
		return Plan[T]{Report: plan.Report && conditioned}, planError{err}
	}
	return plan, nil
}

// callPlan returns what the plan says, or the error of a panic.
func callPlan[T client.Object](ctx context.Context, f PlanFunc[T], owner T, view View) (plan Plan[T], err error) {
	defer func() {
		if cause := recover(); cause != nil {
			plan, err = Plan[T]{}, fmt.Errorf("%w: the plan panicked: %v; the log has the stack", ErrMisuse, cause)
			log.FromContext(ctx).Error(err, "a plan must not panic", "stack", string(debug.Stack()))
		}
	}()
	return f(owner, view), nil
}

// checkWitnesses reports objects that the plan has changed: in tests as an error, else once for each Go type, in the log
// and by an event, since a pass that isn't looked at would take the error back.
func (l *loop[T]) checkWitnesses(ctx context.Context, owner T, witnesses []witness) error {
	var errs []error
	for _, w := range changed(witnesses) {
		err := w.err()
		if l.guard.copies {
			errs = append(errs, err)
			continue
		}
		if l.guard.isNews(w.object) {
			log.FromContext(ctx).Error(err, "a plan must change neither its owner nor what it observed")
			l.engine.emit(owner, events.Warning(events.ReasonInvalidPlan, err.Error()))
		}
	}
	return errors.Join(errs...)
}

// PlanFor returns the operator's plan for an owner and a view, such as one of [NewView], for tests: without a cluster, and
// checked as the operator's loop checks it. A plan that is wrong by itself is ErrMisuse, and empty: one that asks for a
// kind that the operator doesn't declare (the error has the line to add), has a child of a kind that it doesn't own,
// changes the owner or an observed object, or panics. The operator needs no manager.
func (o *Operator[T]) PlanFor(owner T, seen View) (Plan[T], error) {
	if o.plan == nil {
		return Plan[T]{}, fmt.Errorf("operator %s: %w: there is no Plan", o.name, ErrMisuse)
	}
	if isNil(owner) {
		return Plan[T]{}, fmt.Errorf("operator %s: %w: the owner is nil", o.name, ErrMisuse)
	}
	l := &loop[T]{plan: o.plan}
	l.owned.Store(&ownedKinds{declared: o.declarations()})
	l.guard.copies = true
	seen.misuse = &misuse{declared: l.owned.Load().declared}
	return l.makePlan(context.Background(), owner, seen)
}
