package builder

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/armature-dev/armature/builder/internal/phases"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/rollout"
)

// Rollout returns the state of the roll-out of the owner's phased children after the last pass. It returns false before the first
// completed revision. The operator must own &appsv1.ControllerRevision{}. Phase is known only if AlertAfter or RollbackAfter is set,
// and may be out of date; RollsBackAt is not known. Plan.Finish receives the state after the plan's own pass.
func (v View) Rollout() (rollout.Status, bool) {
	return revision.StatusOf(Owned[*appsv1.ControllerRevision](v))
}

// InPhase puts a child in a phase, one of [rollout.Options].Phases. Default: no phase; the builder applies the child before all phases
// and doesn't wait for its readiness.
func InPhase(name string) ChildOption { return childOption(func(c *Child) { c.desired.Phase = name }) }

// Rollout sets how the builder rolls out changes of the children that are [InPhase]. Default: no child is in a phase.
func (b *Builder) Rollout(options rollout.Options) *Builder {
	b.rollout = options
	return b
}

// usesPhases reports whether the options or a child ask for a roll-out. Otherwise a roll-out costs nothing.
func usesPhases(o rollout.Options, children []Child) bool {
	return len(o.Phases) > 0 || slices.ContainsFunc(children, func(c Child) bool { return c.desired.Phase != "" || c.run != nil })
}

// checkPhases returns the errors of the options, and of the children's phases.
func checkPhases(o rollout.Options, children []Child) error {
	if err := phases.CheckOptions(o); err != nil {
		return err
	}
	for _, c := range children {
		if c.run != nil && c.desired.Phase == "" {
			return c.checkRun()
		}
		phase := c.desired.Phase
		switch {
		case phase == "":
		case c.run == nil && phases.RunsRepeatedly(c.desired.Object):
			return fmt.Errorf("%w: %s is in phase %q and has spec.ttlSecondsAfterFinished: it would be deleted, put back and run again for ever; "+
				"add RunOnce(value) to run it once for each value, or leave the TTL out", ErrMisuse, nameOf(c.desired.Object), phase)
		case c.desired.CrossNamespace:
			return fmt.Errorf("%w: %s is in phase %q and has CrossNamespace; a revision keeps only what its owner controls, "+
				"so it can't be in a phase", ErrMisuse, nameOf(c.desired.Object), phase)
		case c.desired.Retained():
			return fmt.Errorf("%w: %s is in phase %q and has Retain; a revision keeps only what its owner controls, "+
				"so it can't be in a phase", ErrMisuse, nameOf(c.desired.Object), phase)
		case !slices.Contains(o.Phases, phase):
			return fmt.Errorf("%w: %s is in phase %q, which is none of %q: name it in Phases", ErrMisuse, nameOf(c.desired.Object), phase, o.Phases)
		}
	}
	return nil
}

// refusePhases returns an error if a call that can't roll children out has phases.
func refusePhases(children ...Child) error {
	if usesPhases(rollout.Options{}, children) {
		return fmt.Errorf("%w: children have phases; use Reconcile, which keeps their order", ErrMisuse)
	}
	return nil
}
