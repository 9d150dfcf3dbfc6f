package builder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// atOnce is when the pass comes that begins a rollback.
const atOnce = time.Millisecond

// giveUp looks at the clock, if something is to be done once a phase has not become ready in time. That the roll-out is
// to be rolled back is noted first; the next pass goes back. So a crash anywhere leads to the same end.
func (r *rollout) giveUp(ctx context.Context, cause error) error {
	after := r.phasing.onFailure.patience()
	if after == 0 {
		return nil
	}
	record := r.target.record
	told := r.result.Rollout
	index := func(phase string) int { return slices.Index(r.phasing.names, phase) }
	if record.PhaseSince == nil || index(record.Phase) < index(told.Phase) { // it never starts anew by going back
		record.Phase, record.PhaseSince = told.Phase, r.nowToTheSecond()
		if err := r.note(ctx, record, false); err != nil {
			return err
		}
	}
	due := record.PhaseSince.Add(after)
	alerts := r.phasing.onFailure < 0
	if left := due.Sub(r.engine.now()); left > 0 {
		if !alerts && r.last != nil {
			told.RollsBackAt = due
		}
		r.result.RequeueAfter = sooner(r.result.RequeueAfter, left)
		return nil
	}
	late := fmt.Sprintf("not ready after %s: ", after)
	if alerts {
		r.haltAt(late, cause)
		return nil
	}
	if r.last == nil {
		r.haltAt(late, cause)
		r.result.Halted.Why += "; nothing was completed before, to which it could be rolled back"
		return nil
	}
	if n, err := r.runningJob(ctx); err != nil || n != nil {
		r.tellWait(n)
		return err
	}
	if why := r.whyUseless(); why != "" {
		r.haltAt(late, cause)
		r.result.Halted.Why += "; it can't be rolled back: " + why
		return nil
	}
	record.State, record.FinishedAt = RolloutRolledBack, r.nowToTheSecond()
	record.Why = shorten(late+r.whyNot(cause), 2*maxWhy) + r.ranIn(record)
	if err := r.note(ctx, record, false); err != nil {
		return err
	}
	r.result.Rollout = r.tellOf(RolloutRolledBack)
	r.result.RequeueAfter = atOnce
	r.engine.emit(r.owner, events.Warning(events.ReasonRolledBack,
		fmt.Sprintf("revision %s is rolled back to %s: %s", r.name, r.last.name(), record.Why)))
	return nil
}

// tellWait says that a rollback waits for a Job; nil is none.
func (r *rollout) tellWait(n *NotReady) {
	if n == nil {
		return
	}
	const due = "; a rollback is due, and waits for %s to end (spec.activeDeadlineSeconds bounds it)"
	n.Why = shorten(n.Why, maxWhy) + fmt.Sprintf(due, "this Job")
	if r.result.Halted != nil {
		r.result.Halted.Why = shorten(r.result.Halted.Why, 2*maxWhy) + fmt.Sprintf(due, "Job "+n.Key.Name)
	}
}

// whyNot says in a few words what keeps the roll-out from going on.
func (r *rollout) whyNot(cause error) string {
	switch {
	case r.result.Halted != nil:
		return r.result.Halted.String()
	case cause != nil:
		return summarize(cause)
	case len(r.result.NotReady) > 0:
		n := r.firstNotReady()
		return "phase " + n.Phase + ": " + n.String()
	default:
		return "phase " + r.result.Rollout.Phase
	}
}

func (r *rollout) firstNotReady() NotReady {
	return slices.MinFunc(r.result.NotReady, func(a, b NotReady) int {
		return cmp.Or(slices.Index(r.phasing.names, a.Phase)-slices.Index(r.phasing.names, b.Phase), store.Compare(a.Key, b.Key))
	})
}

// haltAt names what keeps the roll-out from going on, if nothing has said of itself that it has failed.
func (r *rollout) haltAt(late string, cause error) {
	if r.result.Halted != nil {
		return
	}
	h := &Halt{Phase: r.result.Rollout.Phase}
	about := (*Error)(nil)
	switch {
	case errors.As(cause, &about):
		h.Key, h.Why = about.Key, summarize(cause)
	case len(r.result.NotReady) > 0:
		n := r.firstNotReady()
		h.Phase, h.Key, h.Why = n.Phase, n.Key, n.Why
	case len(r.result.Waiting) > 0:
		h.Key, h.Why = r.result.Waiting[0], "an earlier object of its name is still being deleted"
	}
	h.Why = shorten(late+h.Why, 2*maxWhy)
	r.result.Halted = h
}

// goBack brings the phased children to the last completed revision, the last phase first. It waits for none: to be back
// is worth more than the order. It reports whether all of them are as they were, and ready.
func (r *rollout) goBack(ctx context.Context) (done bool, err error) {
	r.result.Rollout = r.tellOf(RolloutRolledBack)
	if err := r.forget(ctx); err != nil {
		return false, err
	}
	if why := r.whyUseless(); why != "" { // without it there is no telling what may be pruned
		r.result.Halted = &Halt{Phase: r.target.record.Phase, Key: r.revisionKey(r.last.name()), Why: why}
		r.result.Rollout.Why += "; the rollback has stopped: " + why
		r.tellHalt()
		return false, nil
	}
	if err := r.wantBefore(); err != nil {
		return false, err
	}
	s := r.snapshotBefore()
	done = true
	errs := []error{r.keepRuns(ctx)}
	for _, phase := range slices.Backward(s.Phases) {
		ready, err := r.goBackIn(ctx, phase)
		done = done && ready
		errs = append(errs, err)
	}
	return done, errors.Join(append(errs, r.unblock(ctx, true))...)
}

// wantBefore makes the children of the last completed revision those that are wanted, instead of those of the plan.
func (r *rollout) wantBefore() error {
	r.wanted = store.Store{}
	for _, c := range r.free {
		_, key, err := r.keyOf(c)
		if err != nil {
			return err
		}
		r.wanted.Put(key)
	}
	s := r.snapshotBefore()
	for i := range s.Children {
		r.wanted.Put(s.Children[i].key())
	}
	return nil
}

func (r *rollout) goBackIn(ctx context.Context, phase string) (ready bool, err error) {
	var errs []error
	var writes []*write
	before := len(r.result.NotReady) + len(r.result.Waiting)
	s := r.snapshotBefore()
	for i := range s.Children {
		if s.Children[i].Phase != phase {
			continue
		}
		w, err := r.weighReturn(ctx, &s.Children[i])
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
	return err == nil && len(r.result.NotReady)+len(r.result.Waiting) == before, err
}

// weighReturn says what has to be done to return a child to what it was. What was not kept of it (a Secret) stays as it
// is, or comes as it is wanted now if it isn't there. Nothing but what the owner's children can be is written.
func (r *rollout) weighReturn(ctx context.Context, old *snapshotChild) (*write, error) {
	now := r.wantedAs(old.key())
	switch {
	case !r.manages(old.key().GroupKind()):
		return nil, nil
	case old.Payload != nil && now != nil:
		return r.weighBefore(ctx, old, now.child)
	case old.Payload != nil:
		return r.weighBefore(ctx, old, Child{})
	case now == nil:
		return nil, nil
	}
	found, err := r.find(ctx, now)
	if err != nil {
		return nil, err
	}
	if err := now.stamp(r.pass); err != nil || (found != nil && digestOf(found) != now.digest) {
		return nil, err
	}
	return r.compare(now, found)
}
