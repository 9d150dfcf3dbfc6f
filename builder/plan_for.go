package builder

import (
	"context"
	"fmt"
)

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
