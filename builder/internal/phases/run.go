package phases

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/internal/stuck"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/store"
)

// pass is one pass over the children of a Plan.
type pass struct {
	Plan
	Host
	cluster Cluster
	result  Result

	history revision.History
	last    *revision.Revision        // the last completed one; nil at the first install
	target  *revision.Revision        // that of the desired children; nil before its creation
	name    string                    // of target
	runs    map[string]*revision.Runs // by child, of RunOnce children

	byKey map[store.Key]*Child // Children; made on demand

	snapshot     *revision.Snapshot // the data of last, read on demand
	unrestorable string             // why last can't be restored, once snapshot is read; empty if it can

	sets map[store.Key]client.Object // the StatefulSets that were observed, and not written in this pass
}

// Run makes one pass: it applies the children phase by phase, or restores those of the last completed revision. The result is valid
// beside an error.
func Run(ctx context.Context, plan Plan, host Host, cluster Cluster) (Result, error) {
	p := &pass{Plan: plan, Host: host, cluster: cluster, name: revision.Name(host.Owner.GetName(), plan.Hash)}
	if err := p.readHistory(ctx); err != nil {
		return p.result, err
	}
	var err error
	switch {
	case p.last != nil && p.target.State() == rollout.RolledBack:
		err = p.rollBack(ctx)
	case plan.ShowAll && p.target.State() != rollout.Progressing:
		_, err = p.applyUnordered(ctx)
	case plan.ShowAll && !plan.Waits:
		p.result.Status = p.status(rollout.Progressing)
	default:
		err = p.advance(ctx)
	}
	return p.result, err
}

// advance applies the desired children: at once at the first install, otherwise phase by phase. What was installed may not be on record in
// the owner's status yet: then there is nothing to roll back to, but what runs isn't changed at once.
func (p *pass) advance(ctx context.Context) error {
	first := p.last == nil
	unordered := first && !p.history.IsInstalled() && !p.InstallInOrder && !slices.ContainsFunc(p.Children, runsOnce)
	steady := !first && p.last == p.target
	if err := p.recordStart(ctx, unordered || steady); err != nil {
		return err
	}
	p.result.Status = p.status(rollout.Progressing)
	if first {
		p.result.Status.State = rollout.Installing
	}
	var blocked bool
	var err error
	if unordered {
		var ready bool
		ready, err = p.applyUnordered(ctx)
		blocked = p.Blocked != nil || !ready
	} else {
		blocked, err = p.applyInOrder(ctx)
	}
	err = errors.Join(err, p.unblock(ctx, false))
	switch {
	case steady:
		p.result.Status.State = rollout.Completed
		p.result.Done = err == nil && len(p.result.Paused) == 0
		return err
	case !blocked:
		p.result.Done = true
		return p.recordCompletion(ctx)
	case unordered:
		return err
	default:
		p.findFailure()
		return errors.Join(err, p.checkDeadline(ctx, errors.Join(p.Blocked, err)))
	}
}

// applyUnordered applies all children at once, and reports whether all are up to date and ready.
func (p *pass) applyUnordered(ctx context.Context) (ready bool, err error) {
	return p.applyEach(ctx, len(p.Children), func(i int) (Comparison, bool, error) { return p.decide(ctx, &p.Children[i], false) })
}

// applyInOrder applies the phases in order. It pauses the phases after one that isn't ready, and reports whether there is one.
func (p *pass) applyInOrder(ctx context.Context) (blocked bool, err error) {
	blocked = p.Blocked != nil
	in := make(map[string][]*Child, len(p.Phases))
	for i := range p.Children {
		c := &p.Children[i]
		in[c.Phase] = append(in[c.Phase], c)
	}
	var errs []error
	for _, phase := range p.Phases {
		ready, err := p.applyEach(ctx, len(in[phase]), func(i int) (Comparison, bool, error) { return p.decide(ctx, in[phase][i], blocked) })
		if !ready && p.result.Status.Phase == "" {
			p.result.Status.Phase = phase
		}
		blocked = blocked || !ready
		errs = append(errs, err)
	}
	return blocked, errors.Join(errs...)
}

// applyEach calls decide for n children and applies those that it selects. It reports whether all n are ready.
func (p *pass) applyEach(ctx context.Context, n int, decide func(i int) (Comparison, bool, error)) (ready bool, err error) {
	pending := func() int { return len(p.result.NotReady) + len(p.result.waiting) + len(p.result.Paused) }
	before := pending()
	var errs []error
	comparisons := make([]Comparison, 0, n)
	for i := range n {
		c, apply, err := decide(i)
		if err != nil {
			errs = append(errs, err)
		} else if apply {
			comparisons = append(comparisons, c)
		}
	}
	outcome, err := p.cluster.Apply(ctx, comparisons)
	p.result.add(outcome)
	p.noteStatefulSets(comparisons, outcome)
	err = errors.Join(append(errs, err)...)
	return err == nil && pending() == before, err
}

// decide compares a child, and decides whether to apply it.
func (p *pass) decide(ctx context.Context, c *Child, paused bool) (found Comparison, apply bool, err error) {
	if c.Run != nil {
		return p.decideRun(ctx, c, paused)
	}
	found, err = p.cluster.Compare(ctx, c, nil)
	if err != nil || !paused || !found.Writes() {
		return found, err == nil, err
	}
	before := p.childBefore(c.Key)
	switch whilePaused(found, before) {
	case correct:
		return found, true, nil
	case restore:
		p.result.Paused = append(p.result.Paused, c.Key)
		found, err = p.cluster.Compare(ctx, nil, before)
		return found, err == nil, err
	default:
		p.result.Paused = append(p.result.Paused, c.Key)
		return found, false, nil
	}
}

// pausedAction is the action for a differing child in a paused phase.
type pausedAction int

const (
	wait    pausedAction = iota // its change waits; it stays as it is
	correct                     // it has drifted: the desired object equals the last applied one
	restore                     // its change waits; the last completed revision's state is restored, in case of drift
)

// whilePaused decides the action for a child in a paused phase. before is the child of the last completed revision, nil for none. A
// new child, a secret one, and one of a superseded roll-out stay as they are.
func whilePaused(found Comparison, before *revision.Child) pausedAction {
	digest := found.Observed
	if digest == "" && before != nil {
		digest = before.Digest // the object or its annotation was deleted
	}
	switch {
	case digest == found.Desired:
		return correct
	case before == nil || before.Payload == nil || digest != before.Digest:
		return wait
	default:
		return restore
	}
}

// childBefore returns a child of the last completed revision, nil if it has none of that key.
func (p *pass) childBefore(key store.Key) *revision.Child {
	if p.last == nil {
		return nil
	}
	return p.snapshotBefore().Find(key)
}

// snapshotBefore returns the data of the last completed revision. It is empty if the builder didn't write them.
func (p *pass) snapshotBefore() *revision.Snapshot {
	if p.snapshot == nil {
		s, reason := p.last.Restorable(Identity(p.Controller, p.Owner))
		p.snapshot, p.unrestorable = &s, reason
	}
	return p.snapshot
}

// whyUnrestorable returns why the last completed revision can't be restored; empty if it can.
func (p *pass) whyUnrestorable() string {
	p.snapshotBefore()
	return p.unrestorable
}

// noteStatefulSets keeps the compared StatefulSets, except those that this pass has written, because their status is older than the
// write.
func (p *pass) noteStatefulSets(comparisons []Comparison, outcome Outcome) {
	for _, c := range comparisons {
		if c.Object == nil || c.Key.GroupKind() != stuck.StatefulSet || slices.Contains(outcome.Written, c.Key) {
			continue
		}
		if p.sets == nil {
			p.sets = map[store.Key]client.Object{}
		}
		p.sets[c.Key] = c.Object
	}
}

// unblock deletes the pods for which StatefulSets wait forever. Without the permission, the child's status says what to do.
func (p *pass) unblock(ctx context.Context, back bool) error {
	unblocker := stuck.Unblocker{Live: p.Live, Watch: p.Stuck, DryRun: p.DryRun, Now: p.Now(), Delete: p.cluster.Delete}
	for i := range p.result.NotReady {
		n := &p.result.NotReady[i]
		set := stuck.Waiting(p.sets[n.Key])
		if set == nil {
			continue
		}
		outcome, err := unblocker.Unblock(ctx, set, back)
		for _, pod := range outcome.Deleted {
			p.Emit(events.Normal(events.ReasonDeleted, fmt.Sprintf(
				"deleted Pod %s: it is of the abandoned revision %s and not ready, and StatefulSet %s would wait for it for ever",
				pod.Name, pod.Labels[appsv1.ControllerRevisionHashLabelKey], set.Name)).About(pod))
		}
		p.result.requeueAfter(outcome.Wait)
		if outcome.Advice != "" {
			n.Advice = text.Shorten(outcome.Advice, maxMessage)
			n.Message += "; " + n.Advice
		}
		if err != nil {
			return err
		}
	}
	return nil
}
