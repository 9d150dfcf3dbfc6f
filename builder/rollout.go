package builder

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/phases"
	"github.com/armature-dev/armature/builder/internal/prune"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// rollOut applies children of which some are in phases: first those outside phases, then the changes that package phases selects. It
// reports whether all children are up to date and ready, so that pruning may begin.
func (p *pass) rollOut(ctx context.Context, children []Child) (done bool, err error) {
	if err := checkPhases(p.rollout, children); err != nil {
		return false, err
	}
	if p.owner.GetNamespace() == "" {
		return false, fmt.Errorf("%w: phases need an owner in a namespace, where its revisions live; %s is in none", ErrMisuse, p.ownerKey)
	}
	var free, phased []Child
	for _, c := range children {
		if c.desired.Phase == "" {
			free = append(free, c)
		} else {
			phased = append(phased, c)
		}
	}
	c := &phasedChildren{pass: p}
	plan, err := c.plan(phased)
	if errors.Is(err, ErrMisuse) {
		return false, err
	}
	_, freeErr := p.applyTogether(ctx, free)
	if err != nil || errors.Is(freeErr, ErrMisuse) {
		if p.forecast != nil {
			p.forecast.unknown = true // nothing shows what the phases change
		}
		return false, errors.Join(freeErr, err)
	}
	plan.Blocked = freeErr
	if p.forecast != nil {
		plan.ShowAll, plan.Waits = true, p.forecast.waits
	}
	res, err := phases.Run(ctx, plan, p.rolloutHost(), c)
	p.addRollout(res, err)
	p.desireRolledOut(free, res)
	err = errors.Join(freeErr, err)
	return res.Done && err == nil, err
}

// rolloutHost returns the engine's part that package phases uses.
func (p *pass) rolloutHost() phases.Host {
	h := phases.Host{
		Objects: p.revisions(), DryRun: p.engine.dry, Now: p.engine.now,
		Emit: func(ev events.Event) { p.engine.emit(p.owner, ev) },
		Describe: func(err error) (key store.Key, summary string) {
			err = publicError(err)
			if about := (*Error)(nil); errors.As(err, &about) {
				key = about.Key
			}
			return key, summarize(err)
		},
	}
	if p.engine.readsLive {
		h.Stuck = p.engine.memory.Stuck
	}
	return h
}

// revisions returns the owner's ControllerRevisions.
func (p *pass) revisions() revision.Objects {
	return revision.Objects{
		Client: p.engine.client, Live: p.engine.live, Controller: p.engine.name, Owner: p.owner, OwnerKind: p.cluster.OwnerKind,
	}
}

// addRollout adds the result of a roll-out to the result of the pass. It reports a blocker once for each child, because its message
// may change frequently.
func (p *pass) addRollout(res phases.Result, err error) {
	for _, n := range res.NotReady {
		p.pend(ChildStatus{n.Key, n.Phase, notReadyReason(n.Failed), n.Message, n.Advice})
	}
	for _, c := range res.Paused {
		p.pend(ChildStatus{Key: c, Reason: events.ReasonRollingOut, Message: "its change waits for earlier phases"})
	}
	p.result.Unchanged += res.Unchanged
	p.result.RequeueAfter = sooner(p.result.RequeueAfter, res.RequeueAfter)
	p.result.Rollout = res.Status
	key := memory.Call{Owner: p.owner.GetUID(), Scope: "rollout"}
	f := res.Failure
	if f != nil {
		p.pend(ChildStatus{Key: f.Key, Phase: f.Phase, Reason: events.ReasonRolloutHalted, Message: f.Message})
	}
	switch {
	case p.engine.dry: // it reports nothing
	case f == nil && err == nil:
		p.engine.memory.Failures.Forget(key)
	case f != nil && p.engine.memory.Failures.IsNew(key, events.Warning(events.ReasonRolloutHalted, f.Phase+" "+f.Key.String())):
		p.engine.emit(p.owner, events.Warning(events.ReasonRolloutHalted, f.String()))
	}
}

// desireRolledOut completes the set of desired objects, from which pruning finds stale ones. During a rollback the children of the
// last completed revision are desired instead of the plan's.
func (p *pass) desireRolledOut(free []Child, res phases.Result) {
	if p.rollsBack = res.Restored != nil; p.rollsBack {
		p.cluster.DesiredKeys = store.Store{}
		for _, c := range free {
			if _, key, err := p.cluster.KeyOf(&c.desired); err == nil { // otherwise the pass has an error, and prunes nothing
				p.cluster.DesiredKeys.Put(key)
			}
		}
	}
	p.pruner.Restored = inventory.Kinds{}
	for _, key := range slices.Concat(res.Restored, res.Retained) {
		p.cluster.DesiredKeys.Put(key)
		p.pruner.Restored.Insert(key.GroupKind())
	}
}

// phasedChildren are the children of a pass that are in phases. It implements phases.Cluster.
type phasedChildren struct {
	pass    *pass
	desired []phasedChild  // as given
	writes  []*apply.Write // of the comparisons, by number
}

// phasedChild is a desired child, with its run if it is a RunOnce child.
type phasedChild struct {
	*apply.Desired
	run *phases.JobRun
}

// plan adds the children to the desired objects, and returns the plan of the roll-out.
func (c *phasedChildren) plan(children []Child) (phases.Plan, error) {
	p := c.pass
	plan := phases.Plan{Options: p.rollout, Children: make([]phases.Child, 0, len(children))}
	plan.CompletedRevision = p.completedRevision()
	for _, obj := range p.prunes {
		if k, err := p.engine.kinds.Of(obj); err == nil {
			plan.Kinds = append(plan.Kinds, k.GVK.GroupKind())
		}
	}
	if p.pruneAll { // of which the owner had children, and which the program still reads
		plan.Kinds = append(plan.Kinds, p.engine.byController.Among(p.pruner.Inventory.Kinds)...)
	}
	var errs []error
	p.cluster.Allocate(len(children))
	c.desired = make([]phasedChild, 0, len(children))
	c.writes = make([]*apply.Write, 0, len(children))
	for i := range children {
		d, err := c.desire(&children[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		plan.Children = append(plan.Children, phases.Child{Index: len(c.desired), Key: d.Key, Phase: d.Child.Phase, Run: d.run})
		c.desired = append(c.desired, d)
	}
	var err error
	plan.Hash, err = c.hash()
	return plan, errors.Join(append(errs, err)...) // after an error the desired revision isn't known
}

// desire adds a child to the desired objects. For a RunOnce child it adds the Job of its value.
func (c *phasedChildren) desire(child *Child) (phasedChild, error) {
	if child.run == nil {
		d, err := c.pass.cluster.Desire(&child.desired)
		if err == nil && child.desired.CreateOnly {
			err = fmt.Errorf("%w: %s has InPhase beside CreateOnly: what follows would not know whether it has run; "+
				"for a Job there is RunOnce(value)", ErrMisuse, d.Key)
		}
		return phasedChild{Desired: d}, err
	}
	job, err := child.asRun()
	if err != nil {
		return phasedChild{}, err
	}
	for _, d := range c.desired {
		if d.run != nil && d.run.Child == job.run.Child {
			return phasedChild{}, fmt.Errorf("%w: RunOnce %s is desired twice", ErrMisuse, job.run.Child)
		}
	}
	d, err := c.pass.cluster.Desire(&job.desired)
	if err == nil {
		d.Hash, d.Hashed = job.run.Hash()
	}
	return phasedChild{d, job.run}, err
}

// hash returns the hash of the desired children. The engine remembers it, because its computation stamps and renders every child.
func (c *phasedChildren) hash() (string, error) {
	p := c.pass
	look, known := uint64(len(c.desired)), true
	for _, d := range c.desired {
		look = (look ^ d.Hash) * 0x9E3779B97F4A7C15
		known = known && d.Hashed
	}
	uid := p.owner.GetUID()
	if last, ok := p.engine.memory.Revisions.Get(uid); ok && known && last.From == look {
		return last.Hash, nil
	}
	lines := make([]string, len(c.desired))
	for i, d := range c.desired {
		if err := d.Stamp(&p.cluster); err != nil {
			return "", err
		}
		if d.run != nil {
			lines[i] = d.run.Line(d.Key)
		} else {
			snapshot := d.Snapshot()
			lines[i] = snapshot.Line()
		}
	}
	hash := revision.Hash(phases.Identity(p.engine.name, p.owner), lines)
	if known {
		p.engine.memory.Revisions.Add(uid, memory.Revision{From: look, Hash: hash})
	}
	return hash, nil
}

// Snapshot returns the desired children as the builder sends them, without RunOnce children.
func (c *phasedChildren) Snapshot() ([]revision.Child, error) {
	var children []revision.Child
	for _, d := range c.desired {
		if d.run != nil {
			continue
		}
		if err := d.Stamp(&c.pass.cluster); err != nil {
			return nil, err
		}
		child := d.Snapshot()
		if !child.IsSecret() {
			var err error
			if child.Payload, err = revision.Payload(d.Sent()); err != nil {
				return nil, fmt.Errorf("%w: revision of %s: %w", ErrMisuse, d.Key, err)
			}
		}
		children = append(children, child)
	}
	return children, nil
}

// Compare compares a child, or its former state, with its object.
func (c *phasedChildren) Compare(ctx context.Context, child *phases.Child, before *revision.Child) (phases.Comparison, error) {
	d, err := c.asDesired(child, before)
	if err != nil {
		return phases.Comparison{}, err
	}
	observed, err := c.pass.observed.Find(ctx, d.Kind, d.Key)
	if err != nil {
		return phases.Comparison{}, err
	}
	if before != nil {
		err = d.Stamp(&c.pass.cluster)
	}
	var w *apply.Write
	if err == nil {
		w, err = c.pass.cluster.Compare(d, observed)
	}
	result := phases.Comparison{Key: d.Key, Object: observed, Desired: d.Digest, Observed: apply.DigestOf(observed)}
	if err != nil {
		return result, err
	}
	result.Number, result.Creates, result.Changes = len(c.writes), w.Action == apply.Create, w.Action == apply.Apply
	c.writes = append(c.writes, w)
	return result, nil
}

// asDesired returns the desired object of a child, or its former state if that payload is known.
func (c *phasedChildren) asDesired(child *phases.Child, before *revision.Child) (*apply.Desired, error) {
	if before == nil || before.Payload == nil {
		return c.desired[child.Index].Desired, nil
	}
	like := apply.Child{}
	if child != nil {
		like = *c.desired[child.Index].Child
	}
	return c.pass.cluster.Restore(before, like)
}

// Apply makes the writes of comparisons. It writes ConfigMaps and Secrets first, because the pods of a changed workload read their
// configuration at their start. With a later or failed write they would keep the old configuration.
func (c *phasedChildren) Apply(ctx context.Context, comparisons []phases.Comparison) (phases.Outcome, error) {
	p := c.pass
	var writes []*apply.Write
	for _, found := range comparisons {
		if found.Writes() {
			writes = append(writes, c.writes[found.Number])
		}
	}
	if err := p.keepChanged(ctx, writes); err != nil {
		return phases.Outcome{}, err
	}
	pending, changes := len(p.result.Pending), len(p.result.Changes)
	var configuration, others []*apply.Write
	for _, found := range comparisons {
		w := c.writes[found.Number]
		switch {
		case !found.Writes():
			p.record(w)
		case slices.Contains(configurations, w.Desired.Key.GroupKind()):
			configuration = append(configuration, w)
		default:
			others = append(others, w)
		}
	}
	var err error
	for _, writes := range [][]*apply.Write{configuration, others} {
		if err == nil || p.forecast != nil { // a create that fails hides no change
			err = errors.Join(err, p.write(ctx, writes))
		}
	}
	var outcome phases.Outcome
	added := slices.Clone(p.result.Pending[pending:])
	p.result.Pending = p.result.Pending[:pending]
	for _, c := range added {
		if c.Reason == events.ReasonWaiting {
			outcome.Waiting = append(outcome.Waiting, c.Key)
			p.pend(c)
			continue
		}
		outcome.NotReady = append(outcome.NotReady, phases.ChildStatus{ // addRollout adds it, with the other reports
			Key: c.Key, Phase: c.Phase, Failed: c.Reason == events.ReasonChildFailed, Message: c.Message,
		})
	}
	for _, change := range p.result.Changes[changes:] {
		outcome.Written = append(outcome.Written, change.Key)
	}
	return outcome, err
}

var configurations = []schema.GroupKind{
	corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind(), corev1.SchemeGroupVersion.WithKind("Secret").GroupKind(),
}

// Owned returns the owner's objects of a kind. It protects the revisions of a roll-out and the records of RunOnce children from
// pruning.
func (c *phasedChildren) Owned(ctx context.Context, like client.Object) ([]client.Object, error) {
	p := c.pass
	k, err := p.engine.kinds.Of(like)
	if err != nil {
		return nil, err
	}
	if err := p.observed.Observe(ctx, k); err != nil {
		return nil, err
	}
	var objs []client.Object
	for key, obj := range p.observed.ByKey {
		if key.GroupKind() != k.GVK.GroupKind() {
			continue
		}
		objs = append(objs, obj)
		if r, ok := obj.(*appsv1.ControllerRevision); ok && r.DeletionTimestamp == nil && phases.IsOwn(r, p.engine.name) {
			delete(p.observed.ByKey, key)
		}
	}
	return objs, nil
}

// Delete deletes an object in its observed version.
func (c *phasedChildren) Delete(ctx context.Context, key store.Key, observed client.Object) (bool, error) {
	return prune.DeleteObject(ctx, c.pass.engine.client, key, observed)
}

// completedRevision returns the recorded name of the completed revision: that of the plan's options, otherwise that of the owner's
// condition. It is nil if the owner has no conditions, and so no record.
func (p *pass) completedRevision() *string {
	if p.rollout.CompletedRevision != nil {
		return p.rollout.CompletedRevision
	}
	owner, ok := p.owner.(Conditioned)
	if !ok {
		return nil
	}
	name := status.NameIn(*owner.Conditions(), events.ConditionRolledOut)
	return &name
}
