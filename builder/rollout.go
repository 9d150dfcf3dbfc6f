package builder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// RolloutState is how far the roll-out of what is wanted is.
type RolloutState string

const (
	// RolloutInstalling: nothing was completed before. All phases are applied at once, or one by one (InstallInOrder).
	RolloutInstalling RolloutState = "Installing"
	// RolloutProgressing: a revision is being rolled out, phase by phase.
	RolloutProgressing RolloutState = "Progressing"
	// RolloutCompleted: what is wanted was rolled out, and all phases were ready.
	RolloutCompleted RolloutState = "Completed"
	// RolloutRolledBack: what is wanted did not become ready in time; the children are returned to what was before.
	RolloutRolledBack RolloutState = "RolledBack"
)

// Rollout is how far the phases of an owner are.
type Rollout struct {
	State RolloutState
	// From is the last completed revision, the name of a ControllerRevision; empty at the first install.
	From string
	// Before is the revision that was completed before From, as far as it is kept. It is known from a [View] only.
	Before string
	// To is the revision that is wanted; the same as From once it is completed.
	To string
	// Phase is the first phase that isn't ready; empty if all are, or if a first install has no order.
	Phase string
	// StartedAt is when the roll-out to To began; zero at a first install that has no order.
	StartedAt time.Time
	// FinishedAt is when it was completed or given up; zero while it is under way.
	FinishedAt time.Time
	// RollsBackAt is when it will be given up, if its phase isn't ready by then; zero for never.
	RollsBackAt time.Time
	// Why says why it was rolled back; a few hundred bytes at most.
	Why string
}

// Halt is what keeps a roll-out from going on: a child that has failed, or with [Alert] one that isn't ready in time.
type Halt struct {
	// Phase is the child's.
	Phase string
	Key   store.Key
	// Why is one line of a few hundred bytes at most.
	Why string
}

// String names phase and child and says why: "phase broker: Deployment.apps default/web: ProgressDeadlineExceeded".
func (h Halt) String() string { return "phase " + h.Phase + ": " + h.Key.String() + ": " + h.Why }

// rollout is one pass over phased children.
type rollout struct {
	*pass
	ds      []*desired             // the phased children, as given
	byKey   map[store.Key]*desired // the same; made when it is asked for
	free    []Child
	kept    []*revision // that exist, oldest first
	last    *revision   // that was completed; nil at the first install
	target  *revision   // that of the desired phases; nil if there is none yet
	name    string      // of target
	before  *snapshot   // the data of last, read when needed
	useless string      // why last can't be returned to, once before is read
}

// rollOut applies children of which some are in phases, phase by phase. It reports whether that is done, so that pruning
// may begin.
func (p *pass) rollOut(ctx context.Context, wants []Child) (done bool, err error) {
	if err := p.phasing.check(wants); err != nil {
		return false, err
	}
	if p.owner.GetNamespace() == "" {
		return false, fmt.Errorf("%w: phases need an owner in a namespace, where its revisions live; %s is in none", ErrMisuse, p.ownerKey)
	}
	r := &rollout{pass: p}
	phased := make([]Child, 0, len(wants))
	for _, c := range wants {
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
	if r.last != nil && r.target.state() == RolloutRolledBack {
		done, err = r.goBack(ctx)
	} else {
		done, err = r.goForward(ctx, freeErr)
	}
	return done && freeErr == nil, errors.Join(freeErr, err)
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
			return nil, fmt.Errorf("%w: RunOnce %s is wanted twice", ErrMisuse, c.run.name)
		}
	}
	d, err := r.desire(c)
	if err == nil {
		d.digestRun()
	}
	return d, err
}

// load finds out what is wanted of the phased children, and what was before.
func (r *rollout) load(ctx context.Context, phased []Child) error {
	var errs []error
	r.expect(len(phased))
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
		return err // what is wanted is not known
	}
	r.name = revisionName(r.owner.GetName(), hash)
	if r.kept, err = r.revisions(ctx); err != nil {
		return err
	}
	for _, rev := range r.kept {
		if rev.state() == RolloutCompleted && r.phasing.trusts(rev.name(), r.name) {
			r.last = rev
		}
		if rev.name() == r.name {
			r.target = rev
		}
	}
	return nil
}

// goForward applies what is wanted: at once at the first install, else phase by phase.
func (r *rollout) goForward(ctx context.Context, freeErr error) (done bool, err error) {
	first := r.last == nil
	unordered := first && !r.phasing.inOrder && !r.hasRuns()
	steady := !first && r.last == r.target
	if err := r.begin(ctx, unordered || steady); err != nil {
		return false, err
	}
	r.result.Rollout = r.tellOf(RolloutProgressing)
	blocked := freeErr != nil
	var errs []error
	if first {
		r.result.Rollout.State = RolloutInstalling
	}
	if unordered {
		ready, err := r.runPhase(ctx, r.ds, false)
		blocked = blocked || !ready
		errs = append(errs, err)
	}
	in := r.byPhase()
	for _, name := range r.phasing.names {
		if unordered {
			break
		}
		ready, err := r.runPhase(ctx, in[name], blocked)
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
		return err == nil && len(r.result.Held) == 0, err
	case !blocked:
		return true, r.complete(ctx)
	case unordered:
		return false, err
	default:
		r.halt()
		err = errors.Join(err, r.giveUp(ctx, errors.Join(freeErr, err)))
		r.tellHalt()
		return false, err
	}
}

// byPhase returns the children of each phase, as given.
func (r *rollout) byPhase() map[string][]*desired {
	in := make(map[string][]*desired, len(r.phasing.names))
	for _, d := range r.ds {
		in[d.child.phase] = append(in[d.child.phase], d)
	}
	return in
}

// wantedAs returns what is wanted of a key; nil if nothing is.
func (r *rollout) wantedAs(key store.Key) *desired {
	if r.byKey == nil {
		r.byKey = make(map[store.Key]*desired, len(r.ds))
		for _, d := range r.ds {
			r.byKey[d.key] = d
		}
	}
	return r.byKey[key]
}

// runPhase applies some children and reports whether they are all as wanted and ready. If they are held, only what
// isn't a change is written.
func (r *rollout) runPhase(ctx context.Context, ds []*desired, hold bool) (ready bool, err error) {
	var errs []error
	var writes []*write
	trouble := func() int { return len(r.result.NotReady) + len(r.result.Waiting) + len(r.result.Held) }
	before := trouble()
	for _, d := range ds {
		w, err := r.weigh(ctx, d, hold)
		switch {
		case err != nil:
			errs = append(errs, err)
		case w == nil:
		case w.verdict == verdictCreate || w.verdict == verdictApply:
			writes = append(writes, w)
		default:
			r.record(w)
		}
	}
	errs = append(errs, r.writeInOrder(ctx, writes))
	err = errors.Join(errs...)
	return err == nil && trouble() == before, err
}

// weigh says what has to be done about a child. A change that is held becomes the repair of what was before, or nil.
func (r *rollout) weigh(ctx context.Context, d *desired, hold bool) (*write, error) {
	if d.child.run != nil {
		return r.decideRun(ctx, d, hold)
	}
	found, err := r.find(ctx, d)
	if err != nil {
		return nil, err
	}
	w, err := r.compare(d, found)
	if err != nil || !hold || (w.verdict != verdictCreate && w.verdict != verdictApply) {
		return w, err
	}
	old := r.childBefore(d.key)
	has := digestOf(found)
	if has == "" && old != nil {
		has = old.Digest // it was deleted, or its mark was
	}
	if has == d.digest {
		return w, nil // drift
	}
	r.result.Held = append(r.result.Held, d.key)
	if old == nil || old.Payload == nil || has != old.Digest {
		return nil, nil // new, secret, or of a roll-out that was overtaken: it stays as it is
	}
	return r.weighBefore(ctx, old, Child{})
}

// weighBefore says what has to be done to have a child as it was in the last completed revision.
func (r *rollout) weighBefore(ctx context.Context, old *snapshotChild, like Child) (*write, error) {
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
func (r *rollout) childBefore(key store.Key) *snapshotChild {
	if r.last == nil {
		return nil
	}
	s := r.snapshotBefore()
	for i := range s.Children {
		if s.Children[i].key() == key {
			return &s.Children[i]
		}
	}
	return nil
}

// snapshotBefore reads the last completed revision. Nothing is read from one that isn't what the builder wrote, which the
// hash in its name tells.
func (r *rollout) snapshotBefore() *snapshot {
	if r.before != nil {
		return r.before
	}
	s, err := readSnapshot(r.last.object.Data.Raw)
	hash := r.last.name()[strings.LastIndexByte(r.last.name(), '-')+1:]
	switch {
	case err == nil && s.Omitted:
		r.useless = "the last completed revision was too large to be kept"
		s = snapshot{}
	case err != nil || !s.fits(r.engine.revisionOwner(r.owner), hash):
		r.useless = "ControllerRevision " + r.last.name() + " was changed: its data doesn't fit the hash in its name"
		s = snapshot{}
	}
	r.before = &s
	return r.before
}

// whyUseless says why the last completed revision can't be returned to; empty if it can.
func (r *rollout) whyUseless() string {
	r.snapshotBefore()
	return r.useless
}

// manages reports whether the owner's children can be of a kind.
func (r *rollout) manages(of schema.GroupKind) bool {
	if slices.ContainsFunc(r.ds, func(d *desired) bool { return d.key.GroupKind() == of }) {
		return true
	}
	return slices.ContainsFunc(r.prunes, func(obj client.Object) bool {
		k, err := r.engine.kinds.of(obj)
		return err == nil && k.gvk.GroupKind() == of
	})
}
