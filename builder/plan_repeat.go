package builder

import (
	"context"
	"time"

	"github.com/armature-dev/armature/builder/internal/plancheck"
)

// checkRepeated calls the plan again, with the same arguments and with later times, and returns an error if a child has another value
// each time. Each write of such a child would cause the next pass; in a manager, where some passes are checked, the error ends that
// circle. There it is about existing children only: what a plan makes up for a new one, and then reads from the view, harms no one.
func (r *reconciler[T]) checkRepeated(ctx context.Context, owner T, view View, plan Plan[T]) error {
	checked := func(p Plan[T]) []plancheck.Child {
		if r.guard.Copies {
			return p.checked()
		}
		return plancheck.Existing(owner, p.checked(), view.observed.Children())
	}
	return plancheck.CheckRepeated(owner, checked(plan), func(after time.Duration) ([]plancheck.Child, bool) {
		view := view
		view.Now = view.Now.Add(after)
		again, err := callPlan(ctx, r.plan, owner, view)
		return checked(again), err == nil && ctx.Err() == nil
	})
}

// checked returns the parts of the children that show errors of the plan.
func (plan *Plan[T]) checked() []plancheck.Child {
	children := make([]plancheck.Child, len(plan.Children))
	for i := range plan.Children {
		children[i] = checkedChild(&plan.Children[i])
	}
	return children
}

func checkedChild(c *Child) plancheck.Child {
	d := &c.desired
	return plancheck.Child{
		Object: d.Object, CrossNamespace: d.CrossNamespace, Retained: d.Retained(),
		Initial: d.CreateOnly || d.Options != nil && len(d.Options.Ignored) > 0,
	}
}
