package builder

import (
	"fmt"
	"slices"
	"time"
)

// InPhase puts a child in a phase, one of those that [Builder.Phases] or Plan.Phases put in order. Default: a child is
// in no phase; it is applied before all phases, and not waited for.
func InPhase(name string) ChildOption { return inPhase(name) }

type inPhase string

func (name inPhase) applyToChild(c *Child) { c.phase = string(name) }

// FailurePolicy says what becomes of a roll-out that doesn't get on: [Wait], [Alert] or [Rollback].
type FailurePolicy time.Duration

// Wait leaves a roll-out where it is until its phase becomes ready or something else is wanted. It is the default.
const Wait FailurePolicy = 0

// Alert leaves a roll-out where it is, as [Wait] does, and says so once a phase has not become ready for a time, which is
// counted as for [Rollback]: [Result.Halted] names a child that isn't ready, the conditions say Stalled, and there is an
// event. It is for what never fails by itself, as a StatefulSet, whose pods may be pulling an image for ever.
func Alert(after time.Duration) FailurePolicy {
	return -FailurePolicy(max(after, time.Second)) // less than zero, to be told from Rollback
}

// Rollback returns the children to the last completed revision once a phase has not become ready for a time, which is
// counted to the second and for each phase anew; less than a second counts as a second. It should be longer than a
// phase takes in good health. See [Builder.OnFailure].
func Rollback(after time.Duration) FailurePolicy {
	return FailurePolicy(max(after, time.Second))
}

// patience is how long a phase may take; 0 for as long as it likes.
func (p FailurePolicy) patience() time.Duration {
	if p < 0 {
		p = -p
	}
	return time.Duration(p)
}

// Phases orders the children that are [InPhase]: names are the phases from first to last, each once. A child in a phase
// that isn't named is [ErrMisuse].
//
// At the first install all phases are applied at once, unless [Builder.InstallInOrder] or [RunOnce] asks for an order. From then on, a change of the phased children is rolled out
// phase by phase: what changes in a phase is written when all earlier phases are as wanted and ready, by the rules of
// [Builder.AwaitReady]. While a phase isn't ready, or has failed, later ones stay as they are ([Result.Held]). Drift is
// no change: a child of any phase that someone edited or deleted is put back at once, to what it was before if its
// change is still held. Children without a phase are applied first and never held; a claim that is bound by its first
// consumer would else be waited for in vain. Pruning comes when all phases are done.
//
// A change during a roll-out starts a new one at the first phase; what the old one has changed in later phases stays as
// it is until its turn. Phases may be renamed and reordered freely; that alone rolls nothing out.
//
// What was rolled out is kept as ControllerRevisions (apps/v1) that the owner controls: the last two that were
// completed, and the one under way. So the first install is as long as there is no completed one; also an owner whose
// children existed before they had phases begins so. They are called <owner>-<hash>, and are read from the cache: an
// [Operator] should have them in Owns, for others there is [Engine.IndexOwned]. The owner must be namespaced. A pass
// over what is unchanged makes no request, and without phases there are no revisions.
//
// A revision holds the children as they were applied, but for Secrets, of which it holds a digest (as their annotation
// does). Its name has a hash of all that would be applied, and a revision with other data is never applied: the roll-out is
// halted. Only the first values of fields that are ignored aren't in the hash. Who can create ControllerRevisions could make
// up one with a name that fits; against that keep the name of the completed revision on record, see
// [Builder.CompletedRevision].
//
// Phases are for Reconcile; ReconcileStore, Create, Update and CreateOrUpdate refuse them with ErrMisuse.
func (b *Builder) Phases(names ...string) *Builder {
	b.phasing.names = append(b.phasing.names, names...)
	return b
}

// OnFailure says what to do about a roll-out of which a phase doesn't become ready. Default: [Wait], for ever if need
// be; a child that says itself that it has failed is told of with each policy. [Alert] tells of one that is late as well.
//
// With [Rollback] the phased children return to the last completed revision, the last phase first, without waiting for
// one another; with it goes what the failed revision had added, once all is ready, of kinds that are pruned. The owner
// is never edited: its conditions say RolledBack, and the failed revision isn't tried again until something else has
// been wanted, or its ControllerRevision is deleted. Secrets and children without a phase stay as they are. At the
// first install there is nothing to return to. A revision of more than about a megabyte, compressed, is kept without
// its children: it can't be returned to, which [Result.Halted] then says.
//
// A Job of [RunOnce] is not part of what is returned to: one that runs is waited for, one that ran is neither undone nor
// repeated, and the condition and the event name it. The children that are returned to must work with what it did. Where
// they can't, choose [Alert] for that roll-out: the policy may differ with the owner's spec.
//
// A StatefulSet with podManagementPolicy OrderedReady, the default, never replaces a pod that isn't ready, not even once
// its template is fixed or returned to what it was. For StatefulSets in phases the builder deletes such a pod, with each
// policy, if it is of a revision that nobody desires any more. That takes the permissions to list and delete pods; without
// them the conditions give the command that someone has to run.
//
// The time is kept in the ControllerRevision, so that it also runs while the controller is down.
func (b *Builder) OnFailure(policy FailurePolicy) *Builder {
	b.phasing.onFailure = policy
	return b
}

// CompletedRevision says which revision was completed last, as the status of the owner has it on record from
// [Rollout].From, or the empty string before there was one. Only that one is taken for completed and rolled back to. A
// status is written by the operator alone, while ControllerRevisions may be written by others, too. Default: the newest
// ControllerRevision that says so itself.
func (b *Builder) CompletedRevision(name string) *Builder {
	b.phasing.completed = &name
	return b
}

// InstallInOrder applies the phases one after the other at the first install too: a phase once all earlier ones are as
// desired and ready. Default: all phases at once, unless a child has [RunOnce], which implies it. Children without a phase
// come first in any case, and are not waited for.
func (b *Builder) InstallInOrder() *Builder {
	b.phasing.inOrder = true
	return b
}

// phasing is the order in which a pass changes children. The zero value is none.
type phasing struct {
	names     []string
	onFailure FailurePolicy
	inOrder   bool    // at the first install, too
	completed *string // the revision on record; nil if there is no record
}

// trusts reports whether a revision that says it was completed can be one: it is on record, or of the desired phases, which
// its name identifies, so that a crash between the end of a roll-out and the record of it loses nothing.
func (ph phasing) trusts(revision, wanted string) bool {
	return ph.completed == nil || revision == *ph.completed || revision == wanted
}

// used reports whether there is an order. If not, nothing is paid for it.
func (ph phasing) used(wants []Child) bool {
	return len(ph.names) > 0 || slices.ContainsFunc(wants, func(c Child) bool { return c.phase != "" || c.run != nil })
}

// check reports what is wrong with the order.
func (ph phasing) check(wants []Child) error {
	for i, name := range ph.names {
		if name == "" || slices.Contains(ph.names[:i], name) {
			return fmt.Errorf("%w: phase %q is empty or named twice in %q", ErrMisuse, name, ph.names)
		}
	}
	for _, c := range wants {
		if c.run != nil && c.phase == "" {
			return c.checkRun()
		}
		if err := c.checkRepeated(); err != nil {
			return err
		}
		if c.phase != "" && c.crossNamespace {
			return fmt.Errorf("%w: %s is in phase %q and elsewhere; a revision keeps only what its owner controls, so it can't be in a phase",
				ErrMisuse, nameOf(c.object), c.phase)
		}
		if c.phase != "" && c.retained() {
			return fmt.Errorf("%w: %s is in phase %q and has Retain; a revision keeps only what its owner controls, so it can't be in a phase",
				ErrMisuse, nameOf(c.object), c.phase)
		}
		if c.phase != "" && !slices.Contains(ph.names, c.phase) {
			return fmt.Errorf("%w: %s is in phase %q, which is none of %q: name it in Phases", ErrMisuse, nameOf(c.object), c.phase, ph.names)
		}
	}
	return nil
}

// refuse reports that a call can't keep the order.
func (ph phasing) refuse(wants []Child) error {
	if ph.used(wants) {
		return fmt.Errorf("%w: children have phases; use Reconcile, which keeps their order", ErrMisuse)
	}
	return nil
}
