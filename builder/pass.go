package builder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/builder/internal/edit"
	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/marks"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/prune"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/store"
)

// pass is one pass over one owner: its observed state, its desired state, and its result.
type pass struct {
	engine   *Engine
	cluster  apply.Cluster // the part of the pass that package apply uses
	owner    client.Object
	ownerKey store.Key

	instructions // of the plan or the Builder

	observed sources.Children
	result   Result

	pruner    prune.Pruner // of what isn't desired
	rollsBack bool         // what a rollback restores is desired, instead of the plan's children in phases

	effects *effect.Performers // nil: the operator has no external effects

	undo   *former.Settings // nil: the pass keeps no former state
	whole  bool             // the pass is over all children, not over some
	pruned bool             // the pass came to its end

	forecast *forecast // of the dry pass that finds out what a new build disrupts; nil for other passes
}

// instructions are the changes that a plan or a Builder requests.
type instructions struct {
	children []Child
	edits    []Edit
	deletes  []client.Object
	prunes   []client.Object // kinds
	pruneAll bool
	await    bool // evaluate the readiness of every child
	rollout  rollout.Options
}

// instructions returns the parts of the plan that change the cluster, without the owner and its status.
func (plan *Plan[T]) instructions() instructions {
	return instructions{
		children: plan.Children, edits: plan.Edits, deletes: plan.Delete,
		prunes: plan.Prune, pruneAll: plan.PruneAll, await: plan.Report,
		rollout: plan.Rollout,
	}
}

// operatorPass is a pass of an operator: besides the pass, what its plan saw and decided.
type operatorPass[T client.Object] struct {
	*pass

	view      View
	plan      *Plan[T]        // nil before the plan
	planErr   error           // why the plan is invalid, or why there is none
	unplanned bool            // the pass ends the owner without a plan, because the view is incomplete
	err       error           // of the whole pass
	requests  flight.Requests // of a recorded pass
}

// newOperatorPass starts a pass of the operator over an owner, on its engine or on a copy for dry runs. An owner without conditions has no
// undo, because the name of the former state would have no record.
func (r *reconciler[T]) newOperatorPass(e *Engine, owner T) (*operatorPass[T], error) {
	p, err := e.newPass(owner)
	if err != nil {
		return nil, err
	}
	p.effects = r.effects
	if _, conditioned := any(owner).(Conditioned); conditioned && !e.dry && r.former != nil {
		p.undo, p.pruner.KeepFormer = r.former, p.keepDeleted
	}
	return &operatorPass[T]{pass: p}, nil
}

// newPass starts a pass over an owner as it was read.
func (e *Engine) newPass(owner client.Object) (*pass, error) {
	if kinds.IsNil(owner) {
		return nil, fmt.Errorf("%w: the owner is nil", ErrMisuse)
	}
	k, err := e.kinds.Of(owner)
	if err != nil {
		return nil, err
	}
	if owner.GetUID() == "" {
		return nil, fmt.Errorf("%w: owner %s has no UID; read it from the API server first", ErrMisuse, k.Key(owner))
	}
	p := &pass{
		engine: e, owner: owner, ownerKey: k.Key(owner), pruner: prune.Pruner{Inventory: e.inventoryOf(owner)},
	}
	p.observed = sources.Children{
		Reader: e.cached(), Memory: e.memory, ByController: e.byController, CrossNamespace: e.crossNamespace,
		Owner: owner, OwnerKey: p.ownerKey, DryRun: e.dry, ByKey: map[store.Key]client.Object{},
		Marks: marks.Owner{UID: owner.GetUID(), Key: p.ownerKey, Manager: e.name, Proved: e.memory.Marked},
	}
	p.cluster = apply.Cluster{
		Children: &p.observed, OwnerKind: k.GVK, DryRun: e.dry,
		Client: e.client, Live: e.live, ReadsLive: e.readsLive, Name: e.name, Now: e.now, Parallelism: e.parallelism,
	}
	p.pruner.Cluster = &p.cluster
	return p, nil
}

// carryOut follows the instructions. Of an operator with performers it then performs the effects: the owner gets its finalizer before its
// first effect has a journal, and the journals are children.
func (p *pass) carryOut(ctx context.Context) error {
	if p.effects == nil {
		return p.carryOutChildren(ctx)
	}
	if err := p.guardEffects(ctx); err != nil {
		return err
	}
	err := p.carryOutChildren(ctx)
	if _, kept := errors.AsType[stateKept](err); kept || errors.Is(err, apply.ErrOwnerGone) {
		return err
	}
	return errors.Join(err, p.performEffects(ctx))
}

// carryOutChildren follows the instructions in order: record the kinds, apply, edit, delete, prune. It stops after an error, except that
// edits of objects that aren't children don't depend on children. It doesn't call a feature that isn't used (phases, cross-namespace
// children), or the feature returns at once (the inventory).
func (p *pass) carryOutChildren(ctx context.Context) error {
	if p.owner.GetDeletionTimestamp() != nil {
		if !p.pruner.Inventory.IsGuarded() {
			return nil // the garbage collector deletes the children
		}
		p.pruner.Desired = p.engine.kindsOf(p.children, p.pruneAll)
		return p.deleted(p.pruner.Finalize(ctx))
	}
	p.whole = true
	if err := p.recordKinds(ctx, p.children); err != nil {
		return err
	}
	applyAll := p.applyTogether
	if usesPhases(p.rollout, p.children) {
		applyAll = p.rollOut
	}
	done, err := applyAll(ctx, p.children)
	if err != nil {
		return errors.Join(err, p.editForeign(ctx, err))
	}
	if err := p.change(ctx); err != nil || !done {
		return err
	}
	err = p.deleted(p.pruner.Prune(ctx, p.prunes, p.pruneAll))
	p.pruned = err == nil
	return err
}

// recordKinds records the kinds of the desired children on the owner, before the pass creates the first child of a kind.
func (p *pass) recordKinds(ctx context.Context, children []Child) error {
	p.pruner.Desired = p.engine.kindsOf(children, p.pruneAll)
	return p.pruner.Record(ctx)
}

// kindsOf returns the kinds of all children, or only of cross-namespace ones. It ignores a child without a kind: applying it returns
// the error.
func (e *Engine) kindsOf(children []Child, all bool) (desired prune.Kinds) {
	var last kinds.Kind
	for _, child := range children {
		if !all && !child.desired.CrossNamespace {
			continue
		}
		k, err := e.kinds.Of(child.desired.Object)
		if err != nil || (k == last && !child.desired.CrossNamespace) {
			continue
		}
		if desired.ByGroupKind == nil {
			desired = prune.Kinds{Owned: inventory.Kinds{}, CrossNamespace: inventory.Kinds{}, ByGroupKind: map[schema.GroupKind]kinds.Kind{}}
		}
		if child.desired.CrossNamespace {
			desired.CrossNamespace.Insert(k.GVK.GroupKind())
			for _, manager := range child.desired.FormerManagers() {
				if manager != fieldmanager.KubectlApply && !slices.Contains(desired.Former, manager) {
					desired.Former = append(desired.Former, manager)
				}
			}
		} else {
			desired.Owned.Insert(k.GVK.GroupKind())
			last = k
		}
		desired.ByGroupKind[k.GVK.GroupKind()] = k
	}
	return desired
}

// applyTogether applies the children that are in no phase. It reports whether none has failed, so that pruning may begin; some may
// still wait for a deletion. It applies none if one of them is invalid by itself.
func (p *pass) applyTogether(ctx context.Context, children []Child) (done bool, err error) {
	necessary, others, err := p.decideAll(ctx, children)
	if errors.Is(err, ErrMisuse) {
		return false, err
	}
	if keepErr := p.keepChanged(ctx, necessary); keepErr != nil {
		return false, errors.Join(err, keepErr)
	}
	err = errors.Join(err, p.write(ctx, necessary))
	for _, w := range others {
		p.record(w)
	}
	return err == nil, err
}

// decideAll decides about children. It returns the necessary writes, and the others, whose object stays as it is in this pass. It tries
// every child and joins the errors; what it returns is valid beside an error.
func (p *pass) decideAll(ctx context.Context, children []Child) (necessary, others []*apply.Write, err error) {
	p.cluster.Allocate(len(children))
	others = make([]*apply.Write, 0, len(children))
	var errs []error
	for i := range children {
		w, err := p.decide(ctx, &children[i].desired)
		switch {
		case err != nil:
			errs = append(errs, err)
		case w.Action == apply.Create || w.Action == apply.Apply:
			necessary = append(necessary, w)
		default:
			others = append(others, w)
		}
	}
	return necessary, others, errors.Join(errs...)
}

// decide returns the write of a child: its desired object, the observed object of its name, and the action.
func (p *pass) decide(ctx context.Context, child *apply.Child) (*apply.Write, error) {
	desired, err := p.cluster.Desire(child)
	if err != nil {
		return nil, err
	}
	observed, err := p.observed.Find(ctx, desired.Kind, desired.Key)
	if err != nil {
		return nil, err
	}
	return p.cluster.Compare(desired, observed)
}

// write makes writes in parallel, and records the outcome of each. It makes none if the owner is gone.
func (p *pass) write(ctx context.Context, writes []*apply.Write) error {
	if len(writes) == 0 {
		return nil
	}
	writeAll := p.cluster.WriteAll
	if p.forecast != nil {
		writeAll = p.forecast.writeAll
	}
	err := writeAll(ctx, writes)
	for _, w := range writes {
		p.record(w)
	}
	return err
}

// record adds the outcome of a child to the result: whether it was written or is waited for, and whether it is ready.
func (p *pass) record(w *apply.Write) {
	p.evaluate(w)
	if len(w.Corrected) > 0 || w.Untried != nil {
		p.emitCorrections(w)
	}
	key := w.Desired.Key
	switch {
	case w.Operation != "":
		p.changed(w.Operation, w.Desired.Kind, key, w.Stored)
		change := &p.result.Changes[len(p.result.Changes)-1]
		change.fieldsLeft = w.FieldsLeft
		if p.engine.dry {
			change.write = w
		}
		if w.Operation == events.ReasonRecreating {
			p.awaitDeletion(key)
		}
	case w.KeptImmutable:
		p.result.Unchanged++
		p.result.keptImmutable = append(p.result.keptImmutable, Change{Key: key, Reason: events.ReasonKept, object: w.Observed})
	case w.Action == apply.None:
		p.result.Unchanged++
	case w.Action == apply.Wait:
		p.awaitDeletion(key)
	case w.Action == apply.BackOff:
		why := "another writer keeps changing it"
		if w.Observed == nil {
			why = "another writer keeps deleting it"
		}
		p.pend(ChildStatus{Key: key, Phase: w.Desired.Child.Phase, Reason: events.ReasonChildrenNotReady, Message: why})
	}
}

// pend adds a child to the result's pending ones.
func (p *pass) pend(s ChildStatus) { p.result.Pending = append(p.result.Pending, s) }

// awaitDeletion adds a child that waits for the deletion of an object of its name.
func (p *pass) awaitDeletion(key store.Key) {
	p.pend(ChildStatus{Key: key, Reason: events.ReasonWaiting, Message: "an object of this name is terminating"})
}

// deleted adds the outcome of deletions to the result.
func (p *pass) deleted(out prune.Outcome, err error) error {
	for _, d := range out.Deleted {
		p.changed(events.ReasonDeleted, d.Kind, d.Key, d.Object)
	}
	for _, key := range out.Waiting {
		p.awaitDeletion(key)
	}
	if err == nil && len(out.Copies) > 0 && !p.engine.dry {
		p.engine.emit(p.owner, copiesEvent(out.Copies))
	}
	return err
}

// changed adds a written object to the result, and to what the engine remembers for the next pass.
func (p *pass) changed(op string, k kinds.Kind, key store.Key, obj client.Object) {
	p.observed.Changed(op, k, key)
	if !p.engine.dry && op == events.ReasonDeleted {
		p.engine.memory.Contests.Forget(contest.Key{Owner: p.owner.GetUID(), Child: key})
	}
	p.result.Changes = append(p.result.Changes, Change{Key: key, Reason: op, object: obj})
}

// claimShows is the time after its creation in which a claim shows that it is being provisioned, if its class binds at once.
const claimShows = 10 * time.Second

// undecided returns how long the state of a claim without any sign stays undecided. The claim either waits for its first consumer, and
// the builder doesn't wait for it, or it is about to be provisioned, and the builder does.
func undecided(obj client.Object, now time.Time) time.Duration {
	claim, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok || claim.Status.Phase == corev1.ClaimBound {
		return 0
	}
	return max(0, claimShows-now.Sub(claim.CreationTimestamp.Time))
}

// evaluate records a child that isn't ready, if the pass checks readiness. For a child that could not be applied, the pass reports the
// error.
func (p *pass) evaluate(w *apply.Write) {
	child := w.Desired.Child
	if !p.await && child.Phase == "" && child.ReadyWhen == nil {
		return
	}
	obj := w.UpToDate()
	if obj == nil {
		return
	}
	state := p.readinessOf(child, w.Desired.Key, obj)
	if state.Ready && child.ReadyWhen == nil {
		if left := undecided(obj, p.engine.now()); left > 0 {
			state = readiness.Status{Message: "is not bound"}
			p.result.RequeueAfter = sooner(p.result.RequeueAfter, left)
		}
	}
	if !state.Ready {
		p.pend(ChildStatus{Key: w.Desired.Key, Phase: child.Phase, Reason: notReadyReason(state.Failed), Message: state.Message})
	}
}

// readinessOf returns the readiness of a child whose object is up to date. A child whose ReadyWhen panics isn't ready, and hasn't failed,
// because a failure would stop or roll back a roll-out.
func (p *pass) readinessOf(child *apply.Child, key store.Key, obj client.Object) (state readiness.Status) {
	if child.ReadyWhen == nil || obj.GetDeletionTimestamp() != nil {
		return readiness.Of(obj)
	}
	defer func() {
		if cause := recover(); cause != nil {
			state = readiness.Status{Message: text.Shorten(fmt.Sprintf("ReadyWhen panicked: %v; the log has the stack", cause), text.MaxMessage)}
			log.Log.Error(nil, "ReadyWhen must not panic", "owner", p.ownerKey, "child", key, "panic", cause, "stack", string(debug.Stack()))
		}
	}()
	state = child.ReadyWhen(obj)
	state.Ready = state.Ready && !state.Failed
	state.Message = text.Shorten(state.Message, text.MaxMessage)
	return state
}

// change makes the plan's edits and deletions of existing objects.
func (p *pass) change(ctx context.Context) error {
	if len(p.edits) > 0 {
		if err := p.editGiven(ctx, p.edits); err != nil {
			return err
		}
	}
	return p.deleteGiven(ctx, p.deletes)
}

// editForeign makes the edits of objects that aren't children, in a pass whose children have failed. It makes none if the plan is invalid,
// or if all requests are likely to fail or have to wait: the server fails, the owner is gone, a former state must be recorded first. Nor
// does it if a child is someone else's: what a plan takes for a part of that child, such as its volumes, is then someone else's, too.
func (p *pass) editForeign(ctx context.Context, failed error) error {
	if errors.Is(failed, ErrMisuse) || errors.Is(failed, ErrNotOwned) || batch.ReachesAll(failed) {
		return nil
	}
	return p.editGiven(ctx, slices.DeleteFunc(slices.Clone(p.edits), func(e Edit) bool { return !e.Foreign }))
}

// editGiven makes the edits of a plan. If one of them is wrong, it makes none.
func (p *pass) editGiven(ctx context.Context, given []Edit) error {
	var edits []edit.Edit
	for _, g := range given {
		e, err := p.check(g)
		if err != nil {
			return err
		}
		if e.Differs() {
			edits = append(edits, e)
		}
	}
	stored, err := edit.SendAll(ctx, p.engine.client, p.engine.kinds, p.engine.name, p.engine.parallelism, edits)
	for i, e := range edits {
		if stored[i] == nil {
			continue
		}
		if e.Scales {
			p.observed.Wrote(e.Kind, e.Key)
			if p.engine.dry { // only the result of a dry run has it: in others the scaled object shows the change
				was, is := e.ReplicasChange()
				fields := []FieldDiff{{Path: "spec.replicas", Old: was, New: is}}
				p.result.Changes = append(p.result.Changes, Change{Key: e.Key, Reason: events.ReasonUpdated, Fields: fields})
			}
			continue
		}
		p.changed(events.ReasonUpdated, e.Kind, e.Key, stored[i])
		if p.observed.ByKey[e.Key] != nil {
			p.observed.ByKey[e.Key] = stored[i] // pruning deletes the stored version
		}
	}
	return err
}

// check checks an edit. An object that the owner must not edit is an error.
func (p *pass) check(g Edit) (edit.Edit, error) {
	k, err := p.engine.kinds.Of(g.Before)
	if err != nil {
		return edit.Edit{}, err
	}
	e, err := edit.New(k, g.Before, g.After, g.Replicas)
	switch {
	case err != nil || g.Foreign:
		return e, err
	case !p.observed.Owns(g.Before):
		return e, failure.NotOwned("edit", e.Key, g.Before)
	case p.observed.ByKey[e.Key] == nil:
		return e, fmt.Errorf("%w: %s to be edited isn't in the view; take it from there", ErrMisuse, e.Key)
	default:
		return e, nil
	}
}

// deleteGiven deletes the children that a plan lists. If one of them isn't the owner's, it deletes none.
func (p *pass) deleteGiven(ctx context.Context, objs []client.Object) error {
	var keys []store.Key
	for _, obj := range objs {
		k, err := p.engine.kinds.Of(obj)
		if err != nil {
			return err
		}
		key := k.Key(obj)
		if obj.GetUID() == "" || obj.GetResourceVersion() == "" {
			return fmt.Errorf("%w: %s to be deleted has no UID or resource version; take it from the view", ErrMisuse, key)
		}
		if !p.observed.Owns(obj) {
			return failure.NotOwned("delete", key, obj)
		}
		if obj.GetDeletionTimestamp() == nil {
			p.observed.ByKey[key] = obj
			keys = append(keys, key)
		}
	}
	return p.deleted(p.pruner.DeleteChildren(ctx, keys))
}

// finish completes the result of a pass that ended with an error or nil: the contests, and when the next pass is needed. It orders the
// result, so that equal passes have equal results.
func (p *pass) finish(err error) Result {
	if p.whole {
		p.observed.RememberCount()
	}
	p.noteContests(err)
	if p.undo != nil {
		p.noteSteady(err)
	}
	slices.SortStableFunc(p.result.Changes, func(a, b Change) int {
		if a.Reason != b.Reason {
			return slices.Index(operations, a.Reason) - slices.Index(operations, b.Reason)
		}
		return store.Compare(a.Key, b.Key)
	})
	slices.SortFunc(p.result.keptImmutable, func(a, b Change) int { return store.Compare(a.Key, b.Key) })
	slices.SortStableFunc(p.result.Pending, func(a, b ChildStatus) int {
		return cmp.Or(store.Compare(a.Key, b.Key), cmp.Compare(a.Reason, b.Reason))
	})
	if until := memory.RefusedUntil(err); !until.IsZero() {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, max(until.Sub(p.engine.now()), conflictDelay))
	}
	if len(p.result.waiting()) > 0 {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, waitForDeletion)
	}
	return p.result
}

var operations = []string{events.ReasonCreated, events.ReasonAdopted, events.ReasonUpdated, events.ReasonRecreating, events.ReasonDeleted}

// statusOfContests converts contests to the form that [Result] has.
func statusOfContests(all []contest.Contest) []ChildStatus {
	var contested []ChildStatus
	for _, c := range all {
		contested = append(contested, ChildStatus{Key: c.Child, Reason: events.ReasonContested, Message: c.Message()})
	}
	return contested
}

// noteContests adds the owner's contests to the result. After an error it treats every child as desired, because the pass may not know
// all desired children.
func (p *pass) noteContests(err error) {
	if p.engine.dry || p.owner.GetDeletionTimestamp() != nil {
		return
	}
	isDesired := func(key store.Key) bool { return err != nil || p.cluster.DesiredKeys.Has(key) }
	report := p.engine.memory.Contests.Report(p.owner.GetUID(), p.engine.now(), isDesired)
	p.result.Pending = append(p.result.Pending, statusOfContests(report.Active)...)
	p.result.begun, p.result.ended = statusOfContests(report.Begun), statusOfContests(report.Ended)
	p.result.RequeueAfter = sooner(p.result.RequeueAfter, report.Wait)
}
