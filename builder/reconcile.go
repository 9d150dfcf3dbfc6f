package builder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	"github.com/armature-dev/armature/builder/internal/view"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// conflictDelay is the delay of a retry after a conflict, in which the cache observes the other write.
const conflictDelay = 50 * time.Millisecond

// loop is the reconciler of an Operator.
type loop[T client.Object] struct {
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
	pace         *throttle.Passes   // nil: every event has its own pass, for tests
	share        *fairshare.Share   // nil: every plan runs at once, for tests
	inFlight     *inflight.Record   // of the quarantine; nil: none
	recorder     flight.Recorder    // nil: none
	former       *former.Settings   // of the former states for an undo; nil: none are kept
	turns        *turns.Turns       // of the roll-out of a new build; nil: every owner is changed at once
	effects      *effect.Performers // nil: the operator has no external effects
	turnSums     telemetry.Turns
}

// Reconcile runs one pass over one owner. It is the table of contents of a pass: each step is one call.
func (l *loop[T]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if l.pace != nil { // a large owner that is throttled
		if left := l.pace.Left(req.NamespacedName, l.now()); left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
	}

	// Observe: the owner, then its children and all other objects of the view, from the cache.
	owner := newOwner[T]()
	if err := l.engine.client.Get(ctx, req.NamespacedName, owner, client.UnsafeDisableDeepCopy); err != nil {
		if apierrors.IsNotFound(err) {
			l.engine.Forget(owner, req.NamespacedName)
			err = l.leaveTurns(ctx, req.NamespacedName, true)
		}
		return reconcile.Result{}, err
	}
	if isPaused(owner) {
		return l.pause(ctx, owner)
	}
	running, hold := l.beginPass(owner) // hold: the owner is in quarantine
	if hold != nil {
		return l.putOff(ctx, owner, hold)
	}
	defer running.End()
	p, err := l.engine.newPass(owner)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	p.keepsFormer(l.former)
	p.effects = l.effects
	share, wait := l.share.Begin(req.Namespace, l.now()) // wait: the plans of the namespace use too much CPU
	if wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	defer func() { share.End(0, l.now()) }() // without effect after the plan has run
	ctx, end := l.engine.tracePass(ctx, owner)
	if l.recorder != nil {
		ctx = p.requests.In(ctx)
	}
	view, err := l.observe(ctx, p, owner)
	if err != nil {
		if l.recorder != nil {
			l.keep(p, view, Plan[T]{}, nil, Result{}, err)
		}
		end(err)
		return reconcile.Result{}, err
	}

	// Plan: the operator's pure function, checked.
	begun := l.now()
	plan, planErr := l.makePlan(ctx, owner, view.WithContext(ctx))
	took := l.now().Sub(begun)
	share.End(took, l.now())
	if err := ctx.Err(); err != nil { // the plan may have returned early
		end(err)
		return reconcile.Result{}, err
	}

	// If the program is new and the plan disruptive, wait for the owner's turn.
	turn, turnErr := l.takeTurn(ctx, p, plan, planErr)
	if turnErr != nil {
		end(turnErr)
		return next(ctx, 0, turnErr)
	}
	if turn.postpones() {
		end(nil)
		after, err := l.awaitTurn(ctx, p, owner, turn)
		if l.recorder != nil {
			l.keep(p, view, plan, planErr, Result{}, err)
		}
		return after, err
	}

	// Apply and prune. A terminating owner needs no plan for that.
	doErr := planErr
	if planErr == nil || owner.GetDeletionTimestamp() != nil {
		p.instructions = plan.instructions()
		p.await = p.await || turn.isIn()
		doErr = errors.Join(planErr, p.carryOut(ctx))
		if l.effects != nil && p.keptFormer == "" && !errors.Is(doErr, errOwnerGone) {
			doErr = errors.Join(doErr, p.performEffects(ctx))
		}
	}
	if p.keptFormer != "" { // before the children are disrupted, the status must name their former state
		end(nil)
		after, err := l.recordFormer(ctx, p, owner)
		if l.recorder != nil {
			l.keep(p, view, plan, planErr, Result{}, err)
		}
		return after, err
	}
	res := p.finish(doErr)
	p.noteSteady(res, doErr)
	if l.byName != nil && l.learnByName(owner, res, doErr) {
		res.RequeueAfter = sooner(res.RequeueAfter, conflictDelay)
	}
	res.planWaitsFor, res.turn = plan.WaitingFor, turn
	if errors.Is(doErr, errOwnerGone) {
		end(nil)
		return reconcile.Result{}, nil
	}
	p.countWaiting("", res)
	if l.pace != nil {
		l.pace.Note(req.NamespacedName, took, len(res.Changes) > 0 || doErr != nil, l.now())
	}

	// Status and events: first the events about the changes, then the status, then the plan's events.
	l.engine.tell(owner, "", res, doErr)
	putOff, written, statusErr := l.writeStatus(ctx, owner, plan, res, doErr, view.Now)
	var turnEnds time.Duration
	if statusErr == nil && putOff == 0 {
		turnEnds, statusErr = l.endTurn(ctx, p, owner, turn)
		l.tellWaiting(owner, res, doErr)
		for _, ev := range plan.Events {
			l.engine.emit(owner, ev)
		}
	}

	// Last, delete the owner if the plan says so, and schedule the next pass.
	err = errors.Join(doErr, statusErr)
	if plan.DeleteOwner && err == nil {
		err = l.engine.deleteOwner(ctx, owner, written)
	}
	if l.recorder != nil {
		l.keep(p, view, plan, planErr, res, err)
	}
	end(err)
	after := sooner(sooner(putOff, turnEnds), sooner(plan.RequeueAfter, res.RequeueAfter))
	if until := kinds.MissingUntil(err); !until.IsZero() {
		log.FromContext(ctx).Error(err, "looked for again once a minute")
		return reconcile.Result{RequeueAfter: sooner(after, max(until.Sub(l.now()), conflictDelay))}, nil
	}
	return next(ctx, after, err)
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

// carryOut follows the instructions in order: record the kinds, apply, edit, delete, prune. It stops after an error. It doesn't
// call a feature that isn't used (the inventory, phases, cross-namespace children).
func (p *pass) carryOut(ctx context.Context) error {
	if p.owner.GetDeletionTimestamp() != nil {
		if !p.inventory.IsGuarded() {
			return nil // the garbage collector deletes the children
		}
		return p.finalize(ctx, p.children)
	}
	if p.usesInventory() {
		if err := p.recordKinds(ctx, p.children); err != nil {
			return err
		}
	}
	if p.effects != nil {
		if err := p.guardEffects(ctx); err != nil {
			return err
		}
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
	if p.effects != nil {
		if err := p.deleteUndesiredEffects(ctx); err != nil {
			return err
		}
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

// observe reads the owner's children into the pass. It returns the view of the plan: the children, the objects of the watch sources,
// and the external state.
func (l *loop[T]) observe(ctx context.Context, p *pass, owner T) (View, error) {
	if err := p.observe(ctx, l.owned.Load().kinds...); err != nil {
		return View{}, err
	}
	if l.byName != nil {
		if err := l.observeByName(ctx, p); err != nil {
			return View{}, err
		}
	}
	for _, k := range l.crossNamespace {
		if err := p.observeCrossNamespace(ctx, k); err != nil {
			return View{}, err
		}
	}
	v := View{Now: l.now(), observed: view.Of(maps.Values(p.observed))}
	asked := &plancheck.Asked{Declared: l.owned.Load().declared}
	v.observed.Asked = asked
	for _, w := range l.watches {
		objs, err := w.Observe(ctx, owner, p.observed)
		if err != nil {
			return View{}, err
		}
		v.observed.Add(w.from, reflect.TypeOf(w.like), objs)
	}
	if l.external == nil || owner.GetDeletionTimestamp() != nil {
		return v, nil
	}
	state, err := l.external(ctx, owner, v)
	v.observed.External = state
	asked.Declared = l.owned.Load().declared // External may have called OwnsLater
	return v, err
}

// observeByName adds the children that are read by name to a pass.
func (l *loop[T]) observeByName(ctx context.Context, p *pass) error {
	again, err := l.byName.Observe(ctx, p.owner, func(key store.Key, child client.Object) { p.observed[key] = child })
	if err != nil {
		return err
	}
	p.result.RequeueAfter = sooner(p.result.RequeueAfter, again)
	for _, k := range l.byName.Kinds() {
		p.listed[k.Kind] = true // no later step lists the kind
	}
	return nil
}

// learnByName drops the children that are read by name and that the pass may have changed, and reports whether another pass must
// follow.
func (l *loop[T]) learnByName(owner T, res Result, err error) bool {
	wrote := func(gk schema.GroupKind) bool {
		return slices.ContainsFunc(res.Changes, func(c Change) bool { return c.Key.GroupKind() == gk })
	}
	return l.byName.Learn(owner, wrote, err != nil)
}

// makePlan calls the plan and checks its result. For an invalid plan it returns an empty plan and an error. A plan is a pure function,
// so a retry can't fix its panic.
func (l *loop[T]) makePlan(ctx context.Context, owner T, view View) (plan Plan[T], err error) {
	witnesses := l.guard.Before(owner, view.observed.Objects())
	plan, err = callPlan(ctx, l.plan, owner, view)
	if err == nil {
		err = errors.Join(view.observed.Asked.Err(), plan.check(l.owned.Load().declared, l.effects, owner))
	}
	err = errors.Join(err, l.checkWitnesses(ctx, owner, witnesses))
	if err != nil {
		_, conditioned := any(owner).(Conditioned)
		return Plan[T]{Report: plan.Report && conditioned}, planError{err}
	}
	return plan, nil
}

// checkWitnesses reports objects that the plan has changed, by the copies or hashes that the guard took before it. In tests that is an
// error. In a manager most passes aren't checked, so that the next one would remove the error from the conditions: there it is in the
// log and in an event, once for each Go type.
func (l *loop[T]) checkWitnesses(ctx context.Context, owner T, witnesses []plancheck.Witness) error {
	var errs []error
	for _, w := range plancheck.Changed(witnesses) {
		err := w.Err()
		if l.guard.Copies {
			errs = append(errs, err)
			continue
		}
		if l.guard.IsNews(w.Object) {
			log.FromContext(ctx).Error(err, "a plan must change neither its owner nor what it observed")
			l.engine.emit(owner, events.Warning(events.ReasonInvalidPlan, err.Error()))
		}
	}
	return errors.Join(errs...)
}

// callPlan returns the plan, or an error if the function panics.
func callPlan[T client.Object](ctx context.Context, f PlanFunc[T], owner T, view View) (plan Plan[T], err error) {
	defer func() {
		if cause := recover(); cause != nil {
			plan, err = Plan[T]{}, fmt.Errorf("%w: the plan panicked: %v; the log has the stack", ErrMisuse, cause)
			log.FromContext(ctx).Error(err, "a plan must not panic", "stack", string(debug.Stack()))
		}
	}()
	return f(owner, view), nil
}

// planError marks an invalid plan, of which the builder carried out nothing.
type planError struct{ error }

func (e planError) Unwrap() error { return e.error }

// WrongPlan lets buildertest recognize the error. It is an error of the program, and a test must not tolerate it.
func (e planError) WrongPlan() {}

// pass is one pass over one owner: its observed state, its desired state, and its result.
type pass struct {
	engine   *Engine
	cluster  apply.Cluster // the part of the pass that package apply uses
	owner    client.Object
	ownerKey store.Key

	observed children // the children of the kinds in listed
	listed   map[kinds.Kind]bool
	desired  store.Store

	confirmed bool // the API server has the owner
	gone      bool // the owner is deleted
	added     int  // created or adopted children in this pass, minus deleted ones

	instructions // of the plan or the Builder

	result Result

	inventory            inventory.Inventory // as it is recorded on the owner
	kinds                desiredKinds
	listedCrossNamespace map[kinds.Kind]bool

	effects *effect.Performers // nil: the operator has no external effects

	undo       *former.Settings // nil: the pass keeps no former state
	pruned     bool             // the pass came to its end
	keptFormer string           // the name of the state that the pass has kept instead of changing children

	dryWrites map[store.Key]*apply.Write // the writes of a dry run; nil in others
	requests  flight.Requests            // of a recorded pass
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
		engine: e, owner: owner, ownerKey: k.Key(owner),
		observed: children{}, listed: map[kinds.Kind]bool{},
		inventory: e.inventoryOf(owner),
	}
	p.cluster = apply.Cluster{
		Client: e.client, Live: e.live, Name: e.name, Kinds: e.kinds, Memory: e.memory, Now: e.now, Parallelism: e.parallelism, DryRun: e.dry,
		Owner: owner, OwnerKind: k.GVK, OwnerKey: p.ownerKey,
		Marks:   marks.Owner{UID: owner.GetUID(), Key: p.ownerKey, Manager: e.name, Proved: e.memory.Marked},
		Desired: &p.desired, Find: p.find, ConfirmOwner: p.confirmOwner,
	}
	return p, nil
}

// observe reads the owner's children of some kinds, each once a pass.
func (p *pass) observe(ctx context.Context, of ...kinds.Kind) error {
	lists, n := make([][]client.Object, len(of)), 0
	for i, k := range of {
		if p.listed[k] {
			continue
		}
		list, err := p.engine.listOwned(ctx, p.owner, k)
		if err != nil && !kinds.IsGone(err) { // an unknown kind has no objects; a write of one returns the error
			return err
		}
		p.listed[k] = true
		lists[i], n = list, n+len(list)
	}
	if len(p.observed) == 0 {
		p.observed = make(children, n) // preallocated: growing it is a large part of a pass's cost
	}
	for i, k := range of {
		for _, obj := range lists[i] {
			p.observed[k.Key(obj)] = obj
		}
	}
	return nil
}

// applyTogether applies the children that are in no phase. It reports whether all are applied, so that pruning may begin.
func (p *pass) applyTogether(ctx context.Context, children []Child) (done bool, err error) {
	writes, err := p.cluster.Apply(ctx, appliedOf(children))
	for _, w := range writes {
		p.record(w)
	}
	return err == nil, publicError(err)
}

// appliedOf returns the desired state of children.
func appliedOf(children []Child) []apply.Child {
	all := make([]apply.Child, len(children))
	for i := range children {
		all[i] = children[i].desired
	}
	return all
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
		p.result.Changes[len(p.result.Changes)-1].left = w.Left
		if p.dryWrites != nil {
			p.dryWrites[key] = w
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

// changed adds a written object to the result, and to what the engine remembers for the next pass.
func (p *pass) changed(op string, k kinds.Kind, key store.Key, obj client.Object) {
	p.wrote(k, key)
	p.countAdded(op, k, key)
	if !p.engine.dry && op == events.ReasonDeleted {
		p.engine.memory.Contests.Forget(contest.Key{Owner: p.owner.GetUID(), Child: key})
	}
	p.result.Changes = append(p.result.Changes, Change{Key: key, Reason: op, object: obj})
}

// finish completes the result of a pass that ended with an error or nil: the contests, and when the next pass is needed. It orders the
// result, so that equal passes have equal results.
func (p *pass) finish(err error) Result {
	p.rememberPresent()
	p.noteContests(err)
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

// next returns when the next pass runs. It doesn't retry terminal errors. It retries conflicts without logging them.
func next(ctx context.Context, after time.Duration, err error) (reconcile.Result, error) {
	switch {
	case err == nil:
		return reconcile.Result{RequeueAfter: after}, nil
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
