package builder

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/builder/internal/fairshare"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/marks"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/builder/internal/throttle"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// conflictDelay is the delay of a retry after a conflict, in which the cache observes the other write.
const conflictDelay = 50 * time.Millisecond

// shortestRequeue is the shortest delay that a plan can request. A number without a unit, 30 for 30 seconds, would otherwise run the
// plan without a break.
const shortestRequeue = 50 * time.Millisecond

// reconciler is the reconciler of an Operator.
type reconciler[T client.Object] struct {
	engine  *Engine
	plan    PlanFunc[T]
	owner   kinds.Kind
	owned   atomic.Pointer[ownedKinds]
	watches []watch
	now     func() time.Time // the clock; tests set another

	crossNamespace []kinds.Kind                                // of children
	byName         *sources.ByName                             // nil: none
	external       func(context.Context, T, View) (any, error) // nil: none

	guard plancheck.Guard

	statusWrites throttle.Statuses
	throttle     *throttle.Passes           // nil: every event has its own pass, for tests
	backoff      *throttle.Backoff          // nil: the controller has another
	limiter      *fairshare.Limiter         // nil: every plan runs at once, for tests
	cpuTime      func(func()) time.Duration // fairshare.CPUTime, but for tests
	inFlight     *inflight.Record           // of the quarantine; nil: none
	recorder     flight.Recorder            // nil: none
	former       *former.Settings           // of the former states for an undo; nil: none are kept
	turns        *turns.Turns               // of the roll-out of a new build; nil: every owner is changed at once
	effects      *effect.Performers         // nil: the operator has no external effects
	turnSums     telemetry.Turns
}

// Reconcile runs one pass over one owner. It is the table of contents of a pass: each step is one call.
func (r *reconciler[T]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	// Begin, unless the pass must wait or the owner is gone or paused.
	if r.throttle != nil {
		if left := r.throttle.Left(req.NamespacedName, r.now()); left > 0 { // a large owner that is throttled
			return r.postpone(req, left), nil
		}
	}
	owner := newOwner[T]()
	if err := r.engine.client.Get(ctx, req.NamespacedName, owner, client.UnsafeDisableDeepCopy); err != nil {
		if apierrors.IsNotFound(err) {
			err = r.forget(ctx, owner, req.NamespacedName)
		}
		return reconcile.Result{}, err
	}
	if isPaused(owner) {
		return r.pause(ctx, owner)
	}
	slot, wait := r.limiter.Begin(req.Namespace, r.now())
	if wait > 0 { // another plan of the namespace, or expensive plans of others, use the slots
		return r.postpone(req, wait), nil
	}
	defer func() { slot.Release() }() // without effect after the plan has run
	running, hold := r.noteInFlight(owner)
	if hold != nil { // the owner is in quarantine
		return r.quarantine(ctx, owner, hold)
	}
	defer running.End()
	p, err := r.newOperatorPass(r.engine, owner)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	ctx, end := r.engine.tracePass(ctx, owner)
	defer func() { end(p.err) }()
	if r.recorder != nil {
		ctx = p.requests.In(ctx)
		defer r.recordPass(p)
	}

	// Observe: the owner's children and all other objects of the view, from the cache. External may wait, and a slot is of CPU.
	if r.external != nil {
		slot.Release()
	}
	if p.view, p.err = r.observe(ctx, p.pass, owner); p.err != nil {
		p.err = publicError(p.err)
		return r.endUnobserved(ctx, p.pass, owner, p.err)
	}
	if r.external != nil {
		if slot, wait = r.limiter.Begin(req.Namespace, r.now()); wait > 0 {
			running.Leave()
			return r.postpone(req, wait), nil
		}
	}

	// Plan: the operator's pure function, checked.
	var plan Plan[T]
	var planErr error
	begun := r.now()
	used := r.cpuTime(func() { plan, planErr = r.makePlan(ctx, owner, p.view.WithContext(ctx)) })
	took := r.now().Sub(begun)
	// A simulated clock stands still during a plan. Its CPU time would make a simulation a matter of chance.
	slot.End(min(used, took), r.now())
	if p.err = ctx.Err(); p.err != nil { // the plan may have returned early
		return reconcile.Result{}, p.err
	}
	p.plan, p.planErr, p.instructions = &plan, planErr, plan.instructions()

	// If the program is new and the plan disruptive, wait for the owner's turn.
	if r.turns != nil {
		if p.result.turn, p.err = r.takeTurn(ctx, p); p.err != nil {
			return r.next(ctx, 0, p.err)
		}
		if p.result.turn.Postpones() {
			return r.awaitTurn(ctx, p, owner)
		}
		p.await = p.await || p.result.turn.IsIn()
	}

	// Apply, change and prune. A terminating owner needs no plan for that.
	doErr := planErr
	if planErr == nil || owner.GetDeletionTimestamp() != nil {
		doErr = publicError(errors.Join(planErr, p.carryOut(ctx)))
	}
	if r.byName != nil {
		r.learnByName(p.pass, doErr)
	}
	if kept, ok := errors.AsType[stateKept](doErr); ok { // before the children are disrupted, the status must name their former state
		return r.recordFormer(ctx, p, owner, kept)
	}
	p.result.planWaitsFor = plan.WaitingFor
	res := p.finish(doErr)
	switch {
	case errors.Is(doErr, apply.ErrOwnerGone):
		return reconcile.Result{}, nil
	case doErr != nil && ctx.Err() != nil: // the manager stops, which is no failure of the owner
		r.engine.emitResult(owner, "", res, nil)
		p.err = doErr
		return reconcile.Result{}, doErr
	}
	if r.throttle != nil {
		r.throttle.Note(req.NamespacedName, took, len(res.Changes) > 0 || doErr != nil, r.now())
	}

	// Status and events: first the events about the changes, then the status, then the plan's events.
	p.countWaiting("", res)
	r.engine.emitResult(owner, "", res, doErr)
	statusDelay, written, statusErr := r.writeStatus(ctx, owner, plan, res, doErr, p.view.Now)
	r.engine.emitStatusFailure(owner, statusErr)
	after := sooner(statusDelay, res.RequeueAfter)
	if plan.RequeueAfter > 0 {
		after = sooner(after, max(plan.RequeueAfter, shortestRequeue))
	}
	if statusErr == nil && statusDelay == 0 {
		if r.turns != nil {
			var ends time.Duration
			ends, statusErr = r.endTurn(ctx, p, owner)
			after = sooner(after, ends)
		}
		if len(plan.WaitingFor) > 0 {
			r.emitWaiting(owner, res, doErr)
		}
		for _, ev := range plan.Events {
			r.engine.emit(owner, ev)
		}
	}

	// Last, delete the owner if the plan says so, and schedule the next pass.
	p.err = errors.Join(doErr, statusErr)
	if plan.DeleteOwner && p.err == nil {
		p.err = r.engine.deleteOwner(ctx, owner, written)
	}
	return r.next(ctx, after, p.err)
}

// postpone returns the result of a pass that hasn't begun. The failures before it still count.
func (r *reconciler[T]) postpone(req reconcile.Request, after time.Duration) reconcile.Result {
	if r.backoff != nil {
		r.backoff.Postpone(req)
	}
	return reconcile.Result{RequeueAfter: after}
}

// forget drops what the reconciler remembers of an owner that is deleted.
func (r *reconciler[T]) forget(ctx context.Context, like T, owner types.NamespacedName) error {
	r.engine.Forget(like, owner)
	if r.turns == nil {
		return nil
	}
	r.turnSums.Forget(store.KeyOf(r.owner.GVK, owner.Namespace, owner.Name))
	return r.turns.Settle(ctx, owner)
}

// instructions returns the parts of the plan that change the cluster, without the owner and its status.
func (plan *Plan[T]) instructions() instructions {
	return instructions{
		children: plan.Children, edits: plan.Edits, deletes: plan.Delete,
		prunes: plan.Prune, pruneAll: plan.PruneAll, await: plan.Report,
		rollout: plan.Rollout,
	}
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

// carryOutChildren follows the instructions in order: record the kinds, apply, edit, delete, prune. It stops after an error. It doesn't
// call a feature that isn't used (phases, cross-namespace children), or the feature returns at once (the inventory).
func (p *pass) carryOutChildren(ctx context.Context) error {
	if p.owner.GetDeletionTimestamp() != nil {
		if !p.inventory.IsGuarded() {
			return nil // the garbage collector deletes the children
		}
		return p.finalize(ctx, p.children)
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
		return err
	}
	if err := p.change(ctx); err != nil || !done {
		return err
	}
	err = p.prune(ctx, p.prunes)
	p.pruned = err == nil
	return err
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

// makePlan calls the plan and checks its result. For an invalid plan it returns an empty plan and an error. A plan is a pure function,
// so a retry can't fix its panic.
func (r *reconciler[T]) makePlan(ctx context.Context, owner T, view View) (plan Plan[T], err error) {
	witnesses, repeat := r.guard.Before(owner, view.observed.Objects())
	plan, err = callPlan(ctx, r.plan, owner, view)
	if err == nil {
		err = errors.Join(view.observed.Asked.Err(), plan.check(r.owned.Load().declared, r.effects, owner))
	}
	if err == nil && repeat && ctx.Err() == nil {
		err = r.checkRepeated(ctx, owner, view, plan)
	}
	err = errors.Join(err, r.checkWitnesses(ctx, owner, witnesses))
	if err != nil {
		_, conditioned := any(owner).(Conditioned)
		return Plan[T]{Report: plan.Report && conditioned}, err
	}
	return plan, nil
}

// checkWitnesses reports objects that the plan has changed, by the copies or hashes that the guard took before it. In tests that is an
// error. In a manager most passes aren't checked, so that the next one would remove the error from the conditions: there it is in the
// log and in an event, once for each Go type.
func (r *reconciler[T]) checkWitnesses(ctx context.Context, owner T, witnesses []plancheck.Witness) error {
	var errs []error
	for _, w := range plancheck.Changed(witnesses) {
		err := w.Err()
		if r.guard.Copies {
			errs = append(errs, err)
			continue
		}
		if r.guard.IsNews(w.Object) {
			log.FromContext(ctx).Error(err, "a plan must change neither its owner nor what it observed")
			r.engine.emit(owner, events.Warning(events.ReasonInvalidPlan, err.Error()))
		}
	}
	return errors.Join(errs...)
}

// callPlan returns the plan, or an error if the function panics.
func callPlan[T client.Object](ctx context.Context, f PlanFunc[T], owner T, view View) (plan Plan[T], err error) {
	err = withoutPanic(ctx, "the plan", func() { plan = f(owner, view) })
	return plan, err
}

// withoutPanic calls a pure function of the operator and returns its panic as an error.
func withoutPanic(ctx context.Context, what string, f func()) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %s panicked: %v; the log has the stack", ErrMisuse, what, cause)
			log.FromContext(ctx).Error(err, "a plan must not panic", "stack", string(debug.Stack()))
		}
	}()
	f()
	return nil
}

// pass is one pass over one owner: its observed state, its desired state, and its result.
type pass struct {
	engine   *Engine
	cluster  apply.Cluster // the part of the pass that package apply uses
	owner    client.Object
	ownerKey store.Key

	observed sources.Children

	instructions // of the plan or the Builder

	result Result

	inventory inventory.Inventory // as it is recorded on the owner
	kinds     desiredKinds
	restored  inventory.Kinds // of the children that a rollback desires instead
	rollsBack bool            // what a rollback restores is desired, instead of the plan's children in phases

	effects *effect.Performers // nil: the operator has no external effects

	undo   *former.Settings // nil: the pass keeps no former state
	whole  bool             // the pass is over all children, not over some
	pruned bool             // the pass came to its end
}

// operatorPass is a pass of an operator: besides the pass, what its plan saw and decided.
type operatorPass[T client.Object] struct {
	*pass

	view     View
	plan     *Plan[T]        // nil before the plan
	planErr  error           // why the plan is invalid
	err      error           // of the whole pass
	requests flight.Requests // of a recorded pass
}

// newOperatorPass starts a pass of the operator over an owner, on its engine or on a copy for dry runs. An owner without conditions has no
// undo, because the name of the former state would have no record.
func (r *reconciler[T]) newOperatorPass(e *Engine, owner T) (*operatorPass[T], error) {
	p, err := e.newPass(owner)
	if err != nil {
		return nil, err
	}
	p.effects = r.effects
	if _, conditioned := any(owner).(Conditioned); conditioned && !e.dry {
		p.undo = r.former
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
		engine: e, owner: owner, ownerKey: k.Key(owner), inventory: e.inventoryOf(owner),
	}
	proof := marks.Owner{UID: owner.GetUID(), Key: p.ownerKey, Manager: e.name, Proved: e.memory.Marked}
	p.observed = sources.Children{
		Reader: e.cached(), Memory: e.memory, ByController: e.byController, CrossNamespace: e.crossNamespace,
		Owner: owner, OwnerKey: p.ownerKey, Marks: proof, DryRun: e.dry, ByKey: map[store.Key]client.Object{},
	}
	p.cluster = apply.Cluster{
		Client: e.client, Live: e.live, ReadsLive: e.readsLive, Name: e.name, Kinds: e.kinds, Memory: e.memory, Now: e.now, Parallelism: e.parallelism, DryRun: e.dry,
		Owner: owner, OwnerKind: k.GVK, OwnerKey: p.ownerKey,
		Marks: proof,
	}
	return p, nil
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
	err := p.cluster.ConfirmOwner(ctx, writes, p.observed.Present)
	if err == nil {
		err = p.cluster.WriteAll(ctx, writes)
	}
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
		change.left = w.Left
		if p.engine.dry {
			change.write = w
		}
		if w.Operation == events.ReasonRecreating {
			p.awaitDeletion(key)
		}
	case w.Kept:
		p.result.Unchanged++
		p.result.kept = append(p.result.kept, Change{Key: key, Reason: events.ReasonKept, object: w.Observed})
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

// changed adds a written object to the result, and to what the engine remembers for the next pass.
func (p *pass) changed(op string, k kinds.Kind, key store.Key, obj client.Object) {
	p.observed.Changed(op, k, key)
	if !p.engine.dry && op == events.ReasonDeleted {
		p.engine.memory.Contests.Forget(contest.Key{Owner: p.owner.GetUID(), Child: key})
	}
	p.result.Changes = append(p.result.Changes, Change{Key: key, Reason: op, object: obj})
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
	slices.SortFunc(p.result.kept, func(a, b Change) int { return store.Compare(a.Key, b.Key) })
	slices.SortStableFunc(p.result.Pending, comparePending)
	if until := memory.RefusedUntil(err); !until.IsZero() {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, max(until.Sub(p.engine.now()), conflictDelay))
	}
	if len(p.result.waiting()) > 0 {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, waitForDeletion)
	}
	return p.result
}

var operations = []string{events.ReasonCreated, events.ReasonAdopted, events.ReasonUpdated, events.ReasonRecreating, events.ReasonDeleted}

// next returns when the next pass runs. It doesn't retry terminal errors. It retries conflicts without logging them, and looks for an
// unknown kind once a minute.
func (r *reconciler[T]) next(ctx context.Context, after time.Duration, err error) (reconcile.Result, error) {
	switch until := kinds.MissingUntil(err); {
	case err == nil:
		return reconcile.Result{RequeueAfter: after}, nil
	case !until.IsZero():
		log.FromContext(ctx).Error(err, "looked for again once a minute")
		return reconcile.Result{RequeueAfter: sooner(after, max(until.Sub(r.now()), conflictDelay))}, nil
	case isConflict(err):
		log.FromContext(ctx).V(1).Info("conflict, trying again", "err", err.Error())
		return reconcile.Result{RequeueAfter: conflictDelay}, nil
	case !IsTerminal(err):
		return reconcile.Result{}, err
	case after > 0: // controller-runtime forgets the time beside an error
		log.FromContext(ctx).Error(err, "not retried until something changes or the plan's time comes", "requeueAfter", after)
		return reconcile.Result{RequeueAfter: after}, nil
	default:
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
}

// sooner returns the smaller of two times, where 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || (b > 0 && b < a) {
		return max(b, 0)
	}
	return a
}
