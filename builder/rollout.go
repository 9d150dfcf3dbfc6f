package builder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
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

// RolloutFailure is what stops a roll-out: a child that has failed, or that isn't ready in time (see [FailurePolicy]).
type RolloutFailure struct {
	// Phase is the child's.
	Phase string
	Key   store.Key
	// Message is one line of a few hundred bytes at most.
	Message string
}

// String returns phase, child and message: "phase broker: Deployment.apps default/web: ProgressDeadlineExceeded".
func (f RolloutFailure) String() string {
	return "phase " + f.Phase + ": " + f.Key.String() + ": " + f.Message
}

// Rollout returns the state of the roll-out of the owner's phased children after the last pass, and false if none was ever
// completed. The operator must have &appsv1.ControllerRevision{} in Owns. Phase is known only if a [FailurePolicy] is set, and
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

// rollout is one pass over phased children.
type rollout struct {
	*pass
	ds      []*desired             // the phased children, as given
	byKey   map[store.Key]*desired // the same; made on demand
	free    []Child                // the children without a phase
	history revision.History
	runs    map[string]*revision.Runs // by child, of those with RunOnce; nil until they are read
	last    *revision.Revision        // the last completed one; nil at the first install
	target  *revision.Revision        // that of the desired phases; nil if there is none yet
	name    string                    // of target
	before  *revision.Snapshot        // the data of last, read on demand

	unrestorable string // why last can't be restored, once before is read; empty if it can
}

// rollOut applies children of which some are in phases, phase by phase. It reports whether all are up to date and ready, so
// that stale objects may be pruned.
func (p *pass) rollOut(ctx context.Context, children []Child) (done bool, err error) {
	if err := p.phasing.check(children); err != nil {
		return false, err
	}
	if p.owner.GetNamespace() == "" {
		return false, fmt.Errorf("%w: phases need an owner in a namespace, where its revisions live; %s is in none", ErrMisuse, p.ownerKey)
	}
	r := &rollout{pass: p}
	phased := make([]Child, 0, len(children))
	for _, c := range children {
		if c.phase == "" {
			r.free = append(r.free, c)
		} else {
			phased = append(phased, c)
		}
	}
	_, freeErr := p.applyTogether(ctx, r.free)
	if err := r.load(ctx, phased); err != nil {
		return false, errors.Join(freeErr, err)
	}
	if r.last != nil && r.target.State() == revision.RolledBack {
		done, err = r.rollBack(ctx)
	} else {
		done, err = r.advance(ctx, freeErr)
	}
	return done && freeErr == nil, errors.Join(freeErr, err)
}

// load computes the desired revision, and reads the revision history.
func (r *rollout) load(ctx context.Context, phased []Child) error {
	var errs []error
	r.allocate(len(phased))
	r.ds = make([]*desired, 0, len(phased))
	for _, c := range phased {
		d, err := r.desirePhased(c)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.ds = append(r.ds, d)
	}
	hash, err := r.engine.hashOf(r.pass, r.ds)
	if err := errors.Join(append(errs, err)...); err != nil {
		return err // the desired revision isn't known
	}
	r.name = revision.RevisionName(r.owner.GetName(), hash)
	if r.history, err = r.revisions(ctx); err != nil {
		return err
	}
	r.last, r.target = r.history.Select(r.name, r.completed())
	return nil
}

// desirePhased makes a child one of those that the owner should have. A RunOnce child becomes the Job of its value.
func (r *rollout) desirePhased(c Child) (*desired, error) {
	if c.run == nil {
		return r.desire(c)
	}
	c, err := c.asRun()
	if err != nil {
		return nil, err
	}
	for _, d := range r.ds {
		if d.child.run != nil && d.child.run.name == c.run.name {
			return nil, fmt.Errorf("%w: RunOnce %s is desired twice", ErrMisuse, c.run.name)
		}
	}
	d, err := r.desire(c)
	if err == nil {
		d.digestRun()
	}
	return d, err
}

// advance applies the desired phases: at once at the first install, else phase by phase.
func (r *rollout) advance(ctx context.Context, freeErr error) (done bool, err error) {
	first := r.last == nil
	unordered := first && !r.phasing.inOrder && !r.hasRuns()
	steady := !first && r.last == r.target
	if err := r.recordStart(ctx, unordered || steady); err != nil {
		return false, err
	}
	r.result.Rollout = r.state(RolloutProgressing)
	blocked := freeErr != nil
	var errs []error
	if first {
		r.result.Rollout.State = RolloutInstalling
	}
	if unordered {
		ready, err := r.applyPhase(ctx, r.ds, false)
		blocked = blocked || !ready
		errs = append(errs, err)
	}
	in := r.byPhase()
	for _, name := range r.phasing.names {
		if unordered {
			break
		}
		ready, err := r.applyPhase(ctx, in[name], blocked)
		if !ready && r.result.Rollout.Phase == "" {
			r.result.Rollout.Phase = name
		}
		blocked = blocked || !ready
		errs = append(errs, err)
	}
	err = errors.Join(append(errs, r.unblock(ctx, false))...)
	switch {
	case steady:
		r.result.Rollout.State = RolloutCompleted
		return err == nil && len(r.result.Paused) == 0, err
	case !blocked:
		return true, r.recordCompletion(ctx)
	case unordered:
		return false, err
	default:
		r.findFailure()
		err = errors.Join(err, r.checkDeadline(ctx, errors.Join(freeErr, err)))
		r.emitFailure()
		return false, err
	}
}

// state returns the state of the roll-out.
func (r *rollout) state(state RolloutState) *Rollout {
	s := &Rollout{State: state, From: r.last.Name(), To: r.name}
	if r.target != nil {
		record := r.target.Record
		s.Message, s.StartedAt, s.FinishedAt = record.Message, record.Started(), record.Finished()
	}
	return s
}

// byPhase returns the children of each phase, as given.
func (r *rollout) byPhase() map[string][]*desired {
	in := make(map[string][]*desired, len(r.phasing.names))
	for _, d := range r.ds {
		in[d.child.phase] = append(in[d.child.phase], d)
	}
	return in
}

// desiredOf returns the desired child of a key; nil if there is none.
func (r *rollout) desiredOf(key store.Key) *desired {
	if r.byKey == nil {
		r.byKey = make(map[store.Key]*desired, len(r.ds))
		for _, d := range r.ds {
			r.byKey[d.key] = d
		}
	}
	return r.byKey[key]
}

// applyPhase applies some children and reports whether they are all up to date and ready. If the phase is paused, only drift is
// corrected.
func (r *rollout) applyPhase(ctx context.Context, ds []*desired, paused bool) (ready bool, err error) {
	pending := func() int { return len(r.result.NotReady) + len(r.result.Waiting) + len(r.result.Paused) }
	before := pending()
	err = r.writeEach(ctx, len(ds), func(i int) (*write, error) { return r.evaluate(ctx, ds[i], paused) })
	return err == nil && pending() == before, err
}

// writeEach decides about n children, records what needs no write, and makes the writes, configuration first.
func (r *rollout) writeEach(ctx context.Context, n int, decide func(i int) (*write, error)) error {
	var errs []error
	var writes []*write
	for i := range n {
		w, err := decide(i)
		switch {
		case err != nil:
			errs = append(errs, err)
		case w == nil:
		case w.action == actionCreate || w.action == actionApply:
			writes = append(writes, w)
		default:
			r.record(w)
		}
	}
	return errors.Join(append(errs, r.writeInOrder(ctx, writes))...)
}

// evaluate decides about a child. In a paused phase a change becomes the repair of the last completed state, or nil.
func (r *rollout) evaluate(ctx context.Context, d *desired, paused bool) (*write, error) {
	if d.child.run != nil {
		return r.decideRun(ctx, d, paused)
	}
	found, err := r.find(ctx, d)
	if err != nil {
		return nil, err
	}
	w, err := r.compare(d, found)
	if err != nil || !paused || (w.action != actionCreate && w.action != actionApply) {
		return w, err
	}
	old := r.childBefore(d.key)
	has := digestOf(found)
	if has == "" && old != nil {
		has = old.Digest // it was deleted, or its annotation was
	}
	if has == d.digest {
		return w, nil // drift
	}
	r.result.Paused = append(r.result.Paused, d.key)
	if old == nil || old.Payload == nil || has != old.Digest {
		return nil, nil // new, secret, or of a roll-out that was overtaken: it stays as it is
	}
	return r.evaluateBefore(ctx, old, Child{})
}

// evaluateBefore decides about a child that is to be as it was in the last completed revision.
func (r *rollout) evaluateBefore(ctx context.Context, old *revision.Child, like Child) (*write, error) {
	d, err := r.restore(old, like)
	if err != nil {
		return nil, err
	}
	found, err := r.find(ctx, d)
	if err != nil {
		return nil, err
	}
	return r.compare(d, found)
}

// childBefore returns a child of the last completed revision, nil if it had none of that key.
func (r *rollout) childBefore(key store.Key) *revision.Child {
	if r.last == nil {
		return nil
	}
	return r.snapshotBefore().Find(key)
}

// snapshotBefore returns the data of the last completed revision, which is empty if it isn't what the builder wrote.
func (r *rollout) snapshotBefore() *revision.Snapshot {
	if r.before == nil {
		s, reason := r.last.Restorable(r.engine.revisionOwner(r.owner), wellknown.AnnotationDigest)
		r.before, r.unrestorable = &s, reason
	}
	return r.before
}

// whyUnrestorable returns why the last completed revision can't be restored; empty if it can.
func (r *rollout) whyUnrestorable() string {
	r.snapshotBefore()
	return r.unrestorable
}

// manages reports whether the owner's children can be of a kind.
func (r *rollout) manages(of schema.GroupKind) bool {
	if slices.ContainsFunc(r.ds, func(d *desired) bool { return d.key.GroupKind() == of }) {
		return true
	}
	return slices.ContainsFunc(r.prunes, func(obj client.Object) bool {
		k, err := r.engine.kinds.Of(obj)
		return err == nil && k.GVK.GroupKind() == of
	})
}
