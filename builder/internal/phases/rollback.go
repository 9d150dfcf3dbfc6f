package phases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/store"
)

// atOnce is the delay before the pass that begins a rollback.
const atOnce = time.Millisecond

// maxMessage limits the message of a failure, in bytes.
const maxMessage = 2 * text.MaxMessage

// checkDeadline alerts or rolls back if a phase isn't ready in time. It records the decision to roll back before any write of the
// rollback, and the next pass carries it out. So a crash at any point leads to the same end.
func (p *pass) checkDeadline(ctx context.Context, cause error) error {
	after := timeout(p.Options)
	if after == 0 {
		return nil
	}
	status := p.result.Status
	record, changed := p.target.Record.Reach(status.Phase, p.Phases, p.nowToTheSecond())
	if changed {
		if err := p.writeState(ctx, record, false); err != nil {
			return err
		}
	}
	due := record.PhaseSince.Add(after)
	if left := due.Sub(p.Now()); left > 0 {
		if p.RollbackAfter > 0 && p.last != nil {
			status.RollsBackAt = due
		}
		p.result.requeueAfter(left)
		return nil
	}
	late := fmt.Sprintf("not ready after %s: ", after)
	if p.RollbackAfter == 0 || p.last == nil {
		p.failAt(late, cause)
		if p.RollbackAfter > 0 {
			p.result.Failure.Message += "; nothing was completed before, to which it could be rolled back"
		}
		return nil
	}
	if job, err := p.runningJob(ctx); err != nil || job != nil {
		p.explainWait(job)
		return err
	}
	if why := p.whyUnrestorable(); why != "" {
		p.failAt(late, cause)
		p.result.Failure.Message += "; it can't be rolled back: " + why
		return nil
	}
	record.Message = text.Shorten(late+p.cause(cause), maxMessage) + p.ranIn(record)
	return p.recordRollback(ctx, record)
}

// recordRollback records that the roll-out is to be rolled back.
func (p *pass) recordRollback(ctx context.Context, record revision.Record) error {
	record.State, record.FinishedAt = rollout.RolledBack, p.nowToTheSecond()
	if err := p.writeState(ctx, record, false); err != nil {
		return err
	}
	p.result.Status = p.status(rollout.RolledBack)
	p.result.requeueAfter(atOnce)
	p.Emit(events.Warning(events.ReasonRolledBack,
		fmt.Sprintf("revision %s is rolled back to %s: %s", p.name, p.last.Name(), record.Message)))
	return nil
}

// explainWait adds to the messages that a rollback waits for a Job; nil is none.
func (p *pass) explainWait(job *ChildStatus) {
	if job == nil {
		return
	}
	const due = "; a rollback is due, and waits for %s to end (spec.activeDeadlineSeconds bounds it)"
	job.Message = text.Shorten(job.Message, text.MaxMessage) + fmt.Sprintf(due, "this Job")
	if f := p.result.Failure; f != nil {
		f.Message = text.Shorten(f.Message, maxMessage) + fmt.Sprintf(due, "Job "+job.Key.Name)
	}
}

// findFailure finds the first failed child, in the order of the phases.
func (p *pass) findFailure() {
	for _, phase := range p.Phases {
		for _, n := range p.result.NotReady {
			if n.Phase == phase && n.Failed {
				p.result.Failure = &n
				return
			}
		}
	}
}

// cause describes in a few words what stops the roll-out.
func (p *pass) cause(err error) string {
	switch {
	case p.result.Failure != nil:
		return p.result.Failure.String()
	case err != nil:
		_, summary := p.Describe(err)
		return summary
	case len(p.result.NotReady) > 0:
		return p.firstNotReady().String()
	default:
		return "phase " + p.result.Status.Phase
	}
}

func (p *pass) firstNotReady() ChildStatus {
	return slices.MinFunc(p.result.NotReady, func(a, b ChildStatus) int {
		return cmp.Or(slices.Index(p.Phases, a.Phase)-slices.Index(p.Phases, b.Phase), store.Compare(a.Key, b.Key))
	})
}

// failAt reports a late child as the failure, if no child reports a failure itself.
func (p *pass) failAt(late string, cause error) {
	if p.result.Failure != nil {
		return
	}
	f := ChildStatus{Phase: p.result.Status.Phase}
	var key store.Key
	var summary string
	if cause != nil {
		key, summary = p.Describe(cause)
	}
	switch {
	case key != store.Key{}:
		f.Key, f.Message = key, summary
	case len(p.result.NotReady) > 0:
		f = p.firstNotReady()
	case len(p.result.waiting) > 0:
		f.Key, f.Message = p.result.waiting[0], "an earlier object of its name is still being deleted"
	}
	f.Message = text.Shorten(late+f.Message, maxMessage)
	p.result.Failure = &f
}

// rollBack restores the children of the last completed revision, the last phase first. It doesn't wait between phases, because a fast
// rollback matters more than the order.
func (p *pass) rollBack(ctx context.Context) error {
	p.result.Status = p.status(rollout.RolledBack)
	if err := p.deleteStale(ctx); err != nil {
		return err
	}
	if why := p.whyUnrestorable(); why != "" { // without its data the prunable objects aren't known
		p.result.Failure = &ChildStatus{Phase: p.target.Record.Phase, Key: p.Objects.Key(p.last.Name()), Message: why}
		p.result.Status.Message += "; the rollback has stopped: " + why
		return nil
	}
	s := p.snapshotBefore()
	p.result.Restored = make([]store.Key, 0, len(s.Children))
	for i := range s.Children {
		p.result.Restored = append(p.result.Restored, s.Children[i].Key())
	}
	done := true
	errs := []error{p.retainJobs(ctx)}
	for _, phase := range slices.Backward(s.Phases) {
		ready, err := p.restorePhase(ctx, phase)
		done = done && ready
		errs = append(errs, err)
	}
	err := errors.Join(append(errs, p.unblock(ctx, true))...)
	p.result.Done = done && err == nil
	return err
}

// restorePhase restores the children of a phase and reports whether all are restored and ready.
func (p *pass) restorePhase(ctx context.Context, phase string) (ready bool, err error) {
	s := p.snapshotBefore()
	return p.applyEach(ctx, len(s.Children), func(i int) (Comparison, bool, error) {
		if s.Children[i].Phase != phase {
			return Comparison{}, false, nil
		}
		return p.decideReturn(ctx, &s.Children[i])
	})
}

// decideReturn decides how to restore a child. If a child's payload isn't stored (a Secret), an existing object stays as it is, and a
// missing one is created as now desired. It restores no kind that the owner can't have children of.
func (p *pass) decideReturn(ctx context.Context, before *revision.Child) (found Comparison, apply bool, err error) {
	now := p.desired(before.Key())
	if !p.manages(before.Key().GroupKind()) || before.Payload == nil && now == nil {
		return Comparison{}, false, nil
	}
	found, err = p.cluster.Compare(ctx, now, before)
	if before.Payload == nil && found.Object != nil && found.Observed != found.Desired {
		return found, false, nil
	}
	return found, err == nil, err
}

// manages reports whether the owner's children can be of a kind.
func (p *pass) manages(of schema.GroupKind) bool {
	return slices.Contains(p.Kinds, of) || slices.ContainsFunc(p.Children, func(c Child) bool { return c.Key.GroupKind() == of })
}

// desired returns the desired child of a key; nil if there is none.
func (p *pass) desired(key store.Key) *Child {
	if p.byKey == nil {
		p.byKey = make(map[store.Key]*Child, len(p.Children))
		for i := range p.Children {
			p.byKey[p.Children[i].Key] = &p.Children[i]
		}
	}
	return p.byKey[key]
}
