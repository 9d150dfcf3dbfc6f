package builder

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/internal/rollout"
)

// RolloutState is the state of a roll-out.
type RolloutState string

const (
	// RolloutInstalling: no revision was completed before. All phases are applied at once, or one by one (InstallInOrder).
	RolloutInstalling RolloutState = revision.Installing
	// RolloutProgressing: a revision is being rolled out, phase by phase.
	RolloutProgressing RolloutState = revision.Progressing
	// RolloutCompleted: the desired revision was rolled out, and all phases were ready.
	RolloutCompleted RolloutState = revision.Completed
	// RolloutRolledBack: the desired revision did not become ready in time; the children return to the one before.
	RolloutRolledBack RolloutState = revision.RolledBack
)

// Rollout is the state of the roll-out of an owner's phases.
type Rollout struct {
	State RolloutState
	// From is the last completed revision, the name of a ControllerRevision; empty at the first install.
	From string
	// Before is the revision that was completed before From, as far as it is retained. Only a [View] knows it.
	Before string
	// To is the desired revision; the same as From once it is completed.
	To string
	// Phase is the first phase that isn't ready; empty if all are, or if a first install has no order.
	Phase string
	// StartedAt is when the roll-out to To began; zero at a first install that has no order.
	StartedAt time.Time
	// FinishedAt is when it was completed or rolled back; zero while it is under way.
	FinishedAt time.Time
	// RollsBackAt is when it is rolled back if its phase isn't ready by then; zero for never.
	RollsBackAt time.Time
	// Message says why it was rolled back; a few hundred bytes at most.
	Message string
}

// Rollout returns the state of the roll-out of the owner's phased children after the last pass, and false if none was ever
// completed. The operator must have &appsv1.ControllerRevision{} in Owns. Phase is known only if AlertAfter or RollbackAfter is set, and
// may be out of date; RollsBackAt is not known. Plan.Finish gets the state after the plan's own pass.
func (v View) Rollout() (Rollout, bool) {
	s, ok := revision.StatusOf(Owned[*appsv1.ControllerRevision](v))
	if !ok {
		return Rollout{}, false
	}
	return Rollout{
		State: RolloutState(s.State), From: s.From, Before: s.Before, To: s.To, Phase: s.Phase, Message: s.Message,
		StartedAt: s.Started(), FinishedAt: s.Finished(),
	}, true
}

// InPhase puts a child in a phase, one of [RolloutOptions].Phases. Default: a child is in no phase; it is applied before all phases,
// and not waited for.
func InPhase(name string) ChildOption { return inPhase(name) }

type inPhase string

func (name inPhase) applyToChild(c *Child) { c.desired.Phase = string(name) }

// RolloutOptions say how changes of the children that are [InPhase] are rolled out: in which order, and what happens when a phase doesn't
// become ready. The zero value is for children without phases.
//
// At the first install all phases are applied at once, unless InstallInOrder or [RunOnce] asks for an order. From then
// on, a change of the phased children is rolled out phase by phase: the changes of a phase are written when all earlier phases
// are up to date and ready, by the rules of [Builder.AwaitReady]. While a phase isn't ready, or has failed, later ones are paused
// ([Result].Paused). Drift is no change: a child of any phase that someone edited or deleted is restored at once, to its state
// before the roll-out if its phase is paused. Children without a phase are applied first and never paused, because a
// PersistentVolumeClaim that is bound by its first consumer would never become ready. Pruning comes when all phases are done.
//
// A change during a roll-out starts a new one at the first phase; changes that the old one has made in later phases stay until
// the new one reaches them. Phases may be renamed and reordered freely; that alone rolls nothing out.
//
// The revision history is kept as ControllerRevisions (apps/v1) that the owner controls: the last two that were completed, and the
// one under way. Until one is completed it is the first install; so an owner whose children existed before they had phases starts
// with that, too. They are called <owner>-<hash>, and are read from the cache: an [Operator] should have them in Owns, a
// reconciler of your own in [Engine.Index]. The owner must be namespaced. A pass over unchanged children makes no request,
// and without phases there are no revisions.
//
// A revision holds the children as they were applied, but of Secrets only the digest (as their annotation does). The hash in its
// name covers all that would be applied, except the first values of ignored fields. A revision with other data is never applied:
// the roll-out stops. Someone who can create ControllerRevisions could fabricate one whose name fits; so the one that counts is that
// of the owner's condition RolledOut ([Result.SetConditions]). An owner without conditions needs CompletedRevision for that.
//
// A phase may take AlertAfter or RollbackAfter, of which at most one can be set. The time counts for each phase, to the second; less
// than a second counts as one. It is kept in the ControllerRevision, so that it also runs while the controller is down. It should be
// longer than a healthy phase takes. Without either the roll-out waits until its phase becomes ready or the desired children change. A
// child that has failed by its own status is reported in any case.
//
// A StatefulSet with podManagementPolicy OrderedReady, the default, never replaces a pod that isn't ready, not even once
// its template is fixed or restored. For StatefulSets in phases the builder deletes such a pod if it is of a revision that nobody
// desires any more. That takes the permissions to list and delete pods; without them the conditions give the command that someone has
// to run.
//
// Phases are for Reconcile; Create, Update and CreateOrUpdate refuse them with ErrMisuse.
type RolloutOptions struct {
	// Phases are the names of the phases from first to last, each once. A child in a phase that isn't named is [ErrMisuse]. Default: nil,
	// no phases.
	Phases []string
	// InstallInOrder applies the phases one after the other at the first install, too: a phase once all earlier ones are up to date and
	// ready. Children without a phase come first in any case, and are not waited for. Default: false, all phases at once, unless a
	// child has [RunOnce], which implies it.
	InstallInOrder bool
	// AlertAfter stops a roll-out whose phase isn't ready after this time, and reports it: [Result].RolloutFailure names a child that
	// isn't ready, the conditions say Stalled, and there is an event. Use it for children that never fail by themselves, such as a
	// StatefulSet whose pods can't pull their image. Default: 0, no alert.
	AlertAfter time.Duration
	// RollbackAfter returns the phased children to the last completed revision if a phase isn't ready after this time, the last phase
	// first, without waiting for one another. Default: 0, no rollback.
	//
	// Children that the failed revision had added are pruned once all are ready, if their kinds are pruned. The owner is
	// never edited: its conditions say RolledBack, and the failed revision isn't tried again until the desired children have changed,
	// or its ControllerRevision is deleted. Secrets and children without a phase stay as they are. At the first install there is
	// nothing to return to. A revision of more than about a megabyte, compressed, is kept without its children and can't be restored,
	// which [Result].RolloutFailure then says.
	//
	// A Job of [RunOnce] is not restored: a rollback waits for one that runs, neither undoes nor repeats one that ran, and names it in
	// the condition and the event. The restored children must work with its effects. If they can't, choose AlertAfter for that
	// roll-out: the options may depend on the owner's spec.
	RollbackAfter time.Duration
	// CompletedRevision is the name of the last completed revision, as the owner's status has it on record from [Rollout].From, or the
	// empty string before there was one. Only that revision counts as completed and can be restored. Use it where others than the
	// operator can write ControllerRevisions. Default: nil, the message of the owner's condition RolledOut. Of an owner that isn't
	// [Conditioned] it is the newest ControllerRevision whose annotation says that it is completed.
	CompletedRevision *string
}

// Rollout says how changes of the children that are [InPhase] are rolled out. Default: no child is in a phase.
func (b *Builder) Rollout(options RolloutOptions) *Builder {
	b.rollout = options
	return b
}

// isUsed reports whether children are rolled out. If not, nothing is paid for it.
func (o RolloutOptions) isUsed(children []Child) bool {
	return len(o.Phases) > 0 || slices.ContainsFunc(children, func(c Child) bool { return c.desired.Phase != "" || c.run != nil })
}

// check reports what is wrong with the options, or with the phase of a child.
func (o RolloutOptions) check(children []Child) error {
	if err := rollout.Options(o).Check(); err != nil {
		return err
	}
	for _, c := range children {
		if c.run != nil && c.desired.Phase == "" {
			return c.checkRun()
		}
		if err := c.checkRepeated(); err != nil {
			return err
		}
		phase := c.desired.Phase
		switch {
		case phase == "":
		case c.desired.CrossNamespace:
			return fmt.Errorf("%w: %s is in phase %q and elsewhere; a revision keeps only what its owner controls, so it can't be in a phase",
				ErrMisuse, nameOf(c.desired.Object), phase)
		case c.desired.Retained():
			return fmt.Errorf("%w: %s is in phase %q and has Retain; a revision keeps only what its owner controls, "+
				"so it can't be in a phase", ErrMisuse, nameOf(c.desired.Object), phase)
		case !slices.Contains(o.Phases, phase):
			return fmt.Errorf("%w: %s is in phase %q, which is none of %q: name it in Phases", ErrMisuse, nameOf(c.desired.Object), phase, o.Phases)
		}
	}
	return nil
}

// refuse reports that a call can't roll children out.
func (o RolloutOptions) refuse(children []Child) error {
	if o.isUsed(children) {
		return fmt.Errorf("%w: children have phases; use Reconcile, which keeps their order", ErrMisuse)
	}
	return nil
}
