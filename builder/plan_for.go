package builder

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/events"
)

// checkWitnesses reports objects that the plan has changed: in tests as an error, else once for each Go type, in the log
// and by an event, since the next pass would take the error back.
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
	if kinds.IsNil(owner) {
		return Plan[T]{}, fmt.Errorf("operator %s: %w: the owner is nil", o.name, ErrMisuse)
	}
	l := &loop[T]{plan: o.plan}
	l.owned.Store(&ownedKinds{declared: o.declarations()})
	l.guard.copies = true
	seen.misuse = &misuse{declared: l.owned.Load().declared}
	return l.makePlan(context.Background(), owner, seen)
}
