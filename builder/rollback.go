package builder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// atOnce is the delay before the pass that begins a rollback.
const atOnce = time.Millisecond

// checkDeadline alerts or rolls back if a phase has not become ready within the time of the failure policy. It records the
// decision to roll back before anything is written; the next pass carries it out. So a crash anywhere leads to the same end.
func (r *rollout) checkDeadline(ctx context.Context, cause error) error {
	policy := r.phasing.onFailure
	after := policy.timeout()
	if after == 0 {
		return nil
	}
	state := r.result.Rollout
	record, changed := r.target.Record.Reach(state.Phase, r.phasing.names, r.nowToTheSecond())
	if changed {
		if err := r.writeState(ctx, record, false); err != nil {
			return err
		}
	}
	due := record.PhaseSince.Add(after)
	rollsBack := policy.RollbackAfter > 0
	if left := due.Sub(r.engine.now()); left > 0 {
		if rollsBack && r.last != nil {
			state.RollsBackAt = due
		}
		r.result.RequeueAfter = sooner(r.result.RequeueAfter, left)
		return nil
	}
	late := fmt.Sprintf("not ready after %s: ", after)
	if !rollsBack {
		r.failAt(late, cause)
		return nil
	}
	if r.last == nil {
		r.failAt(late, cause)
		r.result.RolloutFailure.Message += "; nothing was completed before, to which it could be rolled back"
		return nil
	}
	if n, err := r.runningJob(ctx); err != nil || n != nil {
		r.explainWait(n)
		return err
	}
	if why := r.whyUnrestorable(); why != "" {
		r.failAt(late, cause)
		r.result.RolloutFailure.Message += "; it can't be rolled back: " + why
		return nil
	}
	record.State, record.FinishedAt = revision.RolledBack, r.nowToTheSecond()
	record.Message = shorten(late+r.cause(cause), 2*maxWhy) + r.ranIn(record)
	if err := r.writeState(ctx, record, false); err != nil {
		return err
	}
	r.result.Rollout = r.state(RolloutRolledBack)
	r.result.RequeueAfter = atOnce
	r.engine.emit(r.owner, events.Warning(events.ReasonRolledBack,
		fmt.Sprintf("revision %s is rolled back to %s: %s", r.name, r.last.Name(), record.Message)))
	return nil
}

// explainWait says in the messages that a rollback waits for a Job; nil is none.
func (r *rollout) explainWait(n *ChildStatus) {
	if n == nil {
		return
	}
	const due = "; a rollback is due, and waits for %s to end (spec.activeDeadlineSeconds bounds it)"
	n.Message = shorten(n.Message, maxWhy) + fmt.Sprintf(due, "this Job")
	if f := r.result.RolloutFailure; f != nil {
		f.Message = shorten(f.Message, 2*maxWhy) + fmt.Sprintf(due, "Job "+n.Key.Name)
	}
}

// findFailure finds the child that has failed, in the first phase that has one.
func (r *rollout) findFailure() {
	for _, name := range r.phasing.names {
		for _, n := range r.result.NotReady {
			if n.Phase == name && n.Failed && r.result.RolloutFailure == nil {
				r.result.RolloutFailure = &RolloutFailure{Phase: name, Key: n.Key, Message: n.Message}
			}
		}
	}
}

// emitFailure emits an event about what stops the roll-out: once for each child, because its message may change all the time.
func (r *rollout) emitFailure() {
	f := r.result.RolloutFailure
	if f == nil {
		r.engine.memory.Failures.Forget(r.failureKey())
		return
	}
	if r.engine.memory.Failures.IsNew(r.failureKey(), events.Warning(events.ReasonRolloutHalted, f.Phase+" "+f.Key.String())) {
		r.engine.emit(r.owner, events.Warning(events.ReasonRolloutHalted, f.String()))
	}
}

func (r *rollout) failureKey() memory.Call {
	return memory.Call{Owner: r.owner.GetUID(), Scope: "rollout"}
}

// cause says in a few words what stops the roll-out.
func (r *rollout) cause(err error) string {
	switch {
	case r.result.RolloutFailure != nil:
		return r.result.RolloutFailure.String()
	case err != nil:
		return summarize(err)
	case len(r.result.NotReady) > 0:
		n := r.firstNotReady()
		return "phase " + n.Phase + ": " + n.String()
	default:
		return "phase " + r.result.Rollout.Phase
	}
}

func (r *rollout) firstNotReady() ChildStatus {
	return slices.MinFunc(r.result.NotReady, func(a, b ChildStatus) int {
		return cmp.Or(slices.Index(r.phasing.names, a.Phase)-slices.Index(r.phasing.names, b.Phase), store.Compare(a.Key, b.Key))
	})
}

// failAt names a child that is late as the failure, if no child says itself that it has failed.
func (r *rollout) failAt(late string, cause error) {
	if r.result.RolloutFailure != nil {
		return
	}
	f := &RolloutFailure{Phase: r.result.Rollout.Phase}
	about := (*Error)(nil)
	switch {
	case errors.As(cause, &about):
		f.Key, f.Message = about.Key, summarize(cause)
	case len(r.result.NotReady) > 0:
		n := r.firstNotReady()
		f.Phase, f.Key, f.Message = n.Phase, n.Key, n.Message
	case len(r.result.Waiting) > 0:
		f.Key, f.Message = r.result.Waiting[0], "an earlier object of its name is still being deleted"
	}
	f.Message = shorten(late+f.Message, 2*maxWhy)
	r.result.RolloutFailure = f
}

// rollBack restores the phased children of the last completed revision, the last phase first. Phases are not awaited: to
// restore quickly matters more than the order. It reports whether all children are restored and ready.
func (r *rollout) rollBack(ctx context.Context) (done bool, err error) {
	r.result.Rollout = r.state(RolloutRolledBack)
	if err := r.deleteStale(ctx); err != nil {
		return false, err
	}
	if why := r.whyUnrestorable(); why != "" { // without its data it isn't known what may be pruned
		r.result.RolloutFailure = &RolloutFailure{Phase: r.target.Record.Phase, Key: r.revisionKey(r.last.Name()), Message: why}
		r.result.Rollout.Message += "; the rollback has stopped: " + why
		r.emitFailure()
		return false, nil
	}
	if err := r.desireBefore(); err != nil {
		return false, err
	}
	s := r.snapshotBefore()
	done = true
	errs := []error{r.keepRuns(ctx)}
	for _, phase := range slices.Backward(s.Phases) {
		ready, err := r.restorePhase(ctx, phase)
		done = done && ready
		errs = append(errs, err)
	}
	return done, errors.Join(append(errs, r.unblock(ctx, true))...)
}

// desireBefore makes the children of the last completed revision the desired ones, instead of those of the plan.
func (r *rollout) desireBefore() error {
	r.desired = store.Store{}
	for _, c := range r.free {
		_, key, err := r.keyOf(c)
		if err != nil {
			return err
		}
		r.desired.Put(key)
	}
	s := r.snapshotBefore()
	for i := range s.Children {
		r.desired.Put(s.Children[i].Key())
	}
	return nil
}

func (r *rollout) restorePhase(ctx context.Context, phase string) (ready bool, err error) {
	before := len(r.result.NotReady) + len(r.result.Waiting)
	s := r.snapshotBefore()
	err = r.writeEach(ctx, len(s.Children), func(i int) (*write, error) {
		if s.Children[i].Phase != phase {
			return nil, nil
		}
		return r.evaluateReturn(ctx, &s.Children[i])
	})
	return err == nil && len(r.result.NotReady)+len(r.result.Waiting) == before, err
}

// evaluateReturn decides about a child that is to be restored. A child whose payload isn't stored (a Secret) stays as it is, or
// is created as it is desired now if it doesn't exist. Kinds that the owner can't have children of are left alone.
func (r *rollout) evaluateReturn(ctx context.Context, old *revision.Child) (*write, error) {
	now := r.desiredOf(old.Key())
	switch {
	case !r.manages(old.Key().GroupKind()):
		return nil, nil
	case old.Payload != nil && now != nil:
		return r.evaluateBefore(ctx, old, now.child)
	case old.Payload != nil:
		return r.evaluateBefore(ctx, old, Child{})
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
