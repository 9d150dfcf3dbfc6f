package builder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/events"
)

// begin notes that a roll-out is under way, if one is, and forgets revisions that are of no use any more. It comes
// before the first write, so that a crash can't hide that a roll-out was begun.
func (r *rollout) begin(ctx context.Context, known bool) error {
	if !known && r.target.state() != RolloutProgressing {
		record := rolloutRecord{Controller: r.engine.name, State: RolloutProgressing, StartedAt: r.nowToTheSecond()}
		if err := r.note(ctx, record, true); err != nil {
			return err
		}
		r.engine.emit(r.owner, events.Normal(events.ReasonRolloutStarted, r.announcement()))
	}
	return r.forget(ctx)
}

func (r *rollout) announcement() string {
	if r.last == nil {
		return fmt.Sprintf("installing revision %s, phase by phase", r.name)
	}
	return fmt.Sprintf("rolling out revision %s after %s", r.name, r.last.name())
}

// complete notes that a roll-out has come to its end. From here on it is what a later one returns to.
func (r *rollout) complete(ctx context.Context) error {
	if r.last == nil && len(r.ds) == 0 {
		return nil // nothing was installed yet
	}
	record := rolloutRecord{Controller: r.engine.name, State: RolloutCompleted, FinishedAt: r.nowToTheSecond()}
	if r.target != nil {
		record.StartedAt = r.target.record.StartedAt
	}
	if err := r.note(ctx, record, r.target == nil || r.last == nil); err != nil {
		return err
	}
	r.last = r.target
	r.result.Rollout = r.tellOf(RolloutCompleted)
	r.engine.memory.failures.over(r.haltKey())
	r.engine.emit(r.owner, events.Normal(events.ReasonRolloutCompleted, fmt.Sprintf("all phases of revision %s are ready", r.name)))
	return r.forget(ctx)
}

// note writes how far the roll-out is, in the revision of what is wanted. A new one, or one that was rolled out before,
// becomes the newest.
func (r *rollout) note(ctx context.Context, record rolloutRecord, newest bool) error {
	number := int64(0)
	if newest {
		number = 1
		if n := len(r.kept); n > 0 {
			number = r.kept[n-1].object.Revision + 1
		}
	}
	if r.target != nil {
		return r.updateRevision(ctx, r.target, number, record)
	}
	for _, d := range r.ds {
		if err := d.stamp(r.pass); err != nil {
			return err
		}
	}
	data, err := snapshotOf(r.phasing.names, r.ds)
	if err != nil {
		return err
	}
	if r.target, err = r.createRevision(ctx, r.name, data, number, record); err != nil {
		return err
	}
	r.kept = append(r.kept, r.target)
	return nil
}

// forget deletes revisions but for that of what is wanted, and the last that were completed. A roll-out that was given
// up is forgotten once something else is wanted, so that it may be tried again.
func (r *rollout) forget(ctx context.Context) error {
	kept := 0
	var left []*revision
	var errs []error
	for _, rev := range slices.Backward(r.kept) {
		keep := rev == r.target
		if rev.state() == RolloutCompleted {
			kept++
			keep = keep || kept <= keptRevisions || rev == r.last
		}
		if !keep {
			_, err := r.engine.delete(ctx, r.revisionKey(rev.name()), rev.object)
			errs = append(errs, err)
			continue
		}
		left = append(left, rev)
	}
	slices.Reverse(left)
	r.kept = left
	return errors.Join(errs...)
}

// halt finds what has failed, if something has.
func (r *rollout) halt() {
	for _, name := range r.phasing.names {
		for _, n := range r.result.NotReady {
			if n.Phase == name && n.Failed && r.result.Halted == nil {
				r.result.Halted = &Halt{Phase: name, Key: n.Key, Why: n.Why}
			}
		}
	}
}

// tellHalt tells what keeps the roll-out from going on, once, in whatever words its child says it from then on.
func (r *rollout) tellHalt() {
	if r.result.Halted == nil {
		r.engine.memory.failures.over(r.haltKey())
		return
	}
	h := r.result.Halted
	if r.engine.memory.failures.news(r.haltKey(), events.Warning(events.ReasonRolloutHalted, h.Phase+" "+h.Key.String())) {
		r.engine.emit(r.owner, events.Warning(events.ReasonRolloutHalted, h.String()))
	}
}

func (r *rollout) haltKey() failureKey { return failureKey{r.owner.GetUID(), "rollout"} }

func (r *rollout) nowToTheSecond() *metav1.Time {
	now := metav1.NewTime(r.engine.now().Truncate(time.Second))
	return &now
}

// tellOf says how far the roll-out is.
func (r *rollout) tellOf(state RolloutState) *Rollout {
	told := &Rollout{State: state, From: r.last.name(), To: r.name}
	if r.target != nil {
		told.Why = r.target.record.Why
		told.StartedAt, told.FinishedAt = timeOf(r.target.record.StartedAt), timeOf(r.target.record.FinishedAt)
	}
	return told
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
