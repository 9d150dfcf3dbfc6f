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
	// RolloutInstalling is the state before the first completed revision. The builder applies all phases at once, or one by one with
	// InstallInOrder.
	RolloutInstalling RolloutState = revision.Installing
	// RolloutProgressing is the state while the builder rolls out a revision, phase by phase.
	RolloutProgressing RolloutState = revision.Progressing
	// RolloutCompleted is the state after all phases of the desired revision were ready.
	RolloutCompleted RolloutState = revision.Completed
	// RolloutRolledBack is the state after the desired revision did not become ready in time: the builder restores the children of the
	// revision before.
	RolloutRolledBack RolloutState = revision.RolledBack
)

// Rollout is the state of the roll-out of an owner's phases.
type Rollout struct {
	State RolloutState
	// From is the last completed revision, the name of a ControllerRevision; empty at the first install.
	From string
	// Before is the revision that was completed before From, if it is still in the revision history. Only a [View] has it.
	Before string
	// To is the desired revision. It equals From after its completion.
	To string
	// Phase is the first phase that isn't ready; empty if all are, or during a first install without an order.
	Phase string
	// StartedAt is when the roll-out to To began; zero during a first install without an order.
	StartedAt time.Time
	// FinishedAt is when the roll-out was completed or rolled back; zero before.
	FinishedAt time.Time
	// RollsBackAt is when the builder rolls back if the phase isn't ready; zero for never.
	RollsBackAt time.Time
	// Message is why the builder rolled back; a few hundred bytes at most.
	Message string
}

// Rollout returns the state of the roll-out of the owner's phased children after the last pass. It returns false before the first
// completed revision. The operator must own &appsv1.ControllerRevision{}. Phase is known only if AlertAfter or RollbackAfter is set,
// and may be out of date; RollsBackAt is not known. Plan.Finish receives the state after the plan's own pass.
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

// InPhase puts a child in a phase, one of [RolloutOptions].Phases. Default: no phase; the builder applies the child before all phases
// and doesn't wait for its readiness.
func InPhase(name string) ChildOption { return inPhase(name) }

type inPhase string

func (name inPhase) applyToChild(c *Child) { c.desired.Phase = string(name) }

// RolloutOptions set how the builder rolls out changes of the children that are [InPhase]: in which order, and with which action when
// a phase doesn't become ready. The zero value is for children without phases.
//
// At the first install the builder applies all phases at once, unless InstallInOrder or [RunOnce] sets an order. From then on it rolls
// out a change phase by phase: it writes the changes of a phase when all earlier phases are up to date and ready, by the rules of
// [Builder.AwaitReady]. While a phase isn't ready, or has failed, later phases are paused ([Result].Paused). Drift is not a change: if
// someone edits or deletes a child of any phase, the builder restores it at once, to its state before the roll-out if its phase is
// paused. The builder applies children without a phase first and never pauses them, because a PersistentVolumeClaim that is bound by
// its first consumer would never become ready. It prunes when all phases are complete.
//
// A change during a roll-out starts a new roll-out at the first phase. Changes that the old one has made in later phases stay until
// the new one reaches them. Renaming or reordering phases alone starts no roll-out.
//
// The revision history consists of ControllerRevisions (apps/v1) that the owner controls: the last two completed ones, and the current
// one. Until the first one is completed, the roll-out is a first install, also for an owner whose children existed before they had
// phases. A revision's name is <owner>-<hash>. The builder reads revisions from the cache: an [Operator] should have them in Owns, a
// reconciler of your own in [Engine.Index]. The owner must be namespaced. A pass over unchanged children makes no request. Without
// phases there are no revisions.
//
// A revision has the children as they were applied, but only the digest of a Secret (as its annotation has). The hash in its name
// covers all applied fields, except the first values of ignored fields. The builder never applies a revision whose data don't match:
// the roll-out stops. Someone who can create ControllerRevisions could fabricate one with a matching name. So only the revision that
// the owner's condition RolledOut names counts as completed ([Result.SetConditions]). An owner without conditions needs
// CompletedRevision for that.
//
// Set at most one of AlertAfter and RollbackAfter. The time counts for each phase, in seconds; less than a second counts as one. The
// ControllerRevision stores it, so that it also runs while the controller is down. It should be longer than a healthy phase takes.
// Without either, the roll-out waits until its phase becomes ready or the desired children change. The builder reports a child that
// has failed by its own status in any case.
//
// A StatefulSet with podManagementPolicy OrderedReady, the default, never replaces a pod that isn't ready, even after its template is
// fixed or restored. For a StatefulSet in a phase the builder deletes such a pod if its revision is no longer desired. That takes the
// permissions to list and delete pods. Without them the conditions have the command that someone must run.
//
// Phases work with Reconcile only. In Create, Update and CreateOrUpdate they are [ErrMisuse].
type RolloutOptions struct {
	// Phases are the names of the phases from first to last, each once. A child in a phase that isn't listed is [ErrMisuse]. Default:
	// nil, no phases.
	Phases []string
	// InstallInOrder applies the phases in order at the first install, too: the builder applies a phase when all earlier ones are up to
	// date and ready. It applies children without a phase first and doesn't wait for them. Default: false, all phases at once, unless a
	// child has [RunOnce], which implies an order.
	InstallInOrder bool
	// AlertAfter stops a roll-out whose phase isn't ready after this time, and reports it: [Result].RolloutFailure names a child that
	// isn't ready, the condition Stalled is True, and the builder emits an event. Use it for children that never fail by themselves, such
	// as a StatefulSet whose pods can't pull their image. Default: 0, no alert.
	AlertAfter time.Duration
	// RollbackAfter restores the phased children of the last completed revision if a phase isn't ready after this time. The builder
	// restores the last phase first, and doesn't wait between phases. Default: 0, no rollback.
	//
	// When all restored children are ready, the builder prunes children that the failed revision had added, if the plan prunes their
	// kinds. It never edits the owner: the conditions have the reason RolledBack, and the builder doesn't try the failed revision again
	// until the desired children change, or someone deletes its ControllerRevision. Secrets and children without a phase stay unchanged.
	// During the first install there is no earlier revision to restore. The builder stores a revision of more than about a megabyte,
	// compressed, without its children, and can't restore it; [Result].RolloutFailure then reports that.
	//
	// The builder doesn't restore a Job of [RunOnce]. A rollback waits for a running Job. It neither undoes nor repeats one that ran, and
	// names it in the condition and the event. The restored children must work with the effects of that Job. If they can't, choose
	// AlertAfter for that roll-out: the options may depend on the owner's spec.
	RollbackAfter time.Duration
	// CompletedRevision is the name of the last completed revision, as recorded in the owner's status from [Rollout].From; empty before
	// the first. Only that revision counts as completed and can be restored. Use it where other writers than the operator can write
	// ControllerRevisions. Default: nil, which uses the message of the owner's condition RolledOut. For an owner that isn't [Conditioned]
	// it is the newest ControllerRevision whose annotation marks it as completed.
	CompletedRevision *string
}

// Rollout sets how the builder rolls out changes of the children that are [InPhase]. Default: no child is in a phase.
func (b *Builder) Rollout(options RolloutOptions) *Builder {
	b.rollout = options
	return b
}

// isUsed reports whether the options or a child ask for a roll-out. Otherwise a roll-out costs nothing.
func (o RolloutOptions) isUsed(children []Child) bool {
	return len(o.Phases) > 0 || slices.ContainsFunc(children, func(c Child) bool { return c.desired.Phase != "" || c.run != nil })
}

// check returns the errors of the options, and of the children's phases.
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

// refuse returns an error if a call that can't roll children out has phases.
func (o RolloutOptions) refuse(children []Child) error {
	if o.isUsed(children) {
		return fmt.Errorf("%w: children have phases; use Reconcile, which keeps their order", ErrMisuse)
	}
	return nil
}
