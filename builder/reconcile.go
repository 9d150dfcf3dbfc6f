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
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/builder/internal/fairshare"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/throttle"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/builder/internal/view"
	"github.com/armature-dev/armature/events"
)

// conflictDelay is the delay of a retry after a conflict, in which the cache observes the other write.
const conflictDelay = 50 * time.Millisecond

// maxConflicts is the number of conflicts in a row after which a further one is reported, and has the backoff of other errors. By then a
// cache has caught up.
const maxConflicts = 20

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
}

// Reconcile runs one pass over one owner. It is the table of contents of a pass: each step is one call.
func (r *reconciler[T]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	// Begin, unless the pass must wait or the owner is gone or paused.
	if r.throttle != nil {
		if delay := r.throttle.Delay(req.NamespacedName, r.now()); delay > 0 { // a large owner that is throttled
			return r.postpone(req, delay), nil
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
	kept := r.keptExternal(owner)
	asks := kept == nil && r.asksExternal(owner)
	slot, wait := r.beginOrAsk(req.Namespace, asks, kept != nil)
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

	// Observe: the owner's children and all other objects of the view, from the cache. External may wait, and a slot is of CPU: a pass
	// that calls it has no slot yet.
	var planErr error
	if p.view, planErr = r.observe(ctx, p.pass, owner, kept); planErr != nil {
		ends := owner.GetDeletionTimestamp() != nil && isOnlyForPlan(planErr)
		planErr = publicError(planErr)
		if !ends {
			p.err = planErr
			return r.endUnobserved(ctx, p.pass, owner, planErr)
		}
		p.view.Now, p.unplanned = r.now().UTC(), true
	}
	if asks {
		if slot, wait = r.limiter.BeginObserved(req.Namespace, r.now()); wait > 0 {
			r.engine.memory.External.Keep(owner, p.view.observed.External, r.now())
			running.Leave()
			return r.postpone(req, wait), nil
		}
	} else if kept != nil {
		r.engine.memory.External.Drop(owner)
	}

	// Plan: the operator's pure function, checked.
	var plan Plan[T]
	begun := r.now()
	used := r.cpuTime(func() {
		if !p.unplanned {
			plan, planErr = r.makePlan(ctx, owner, p.view.WithContext(ctx))
		}
	})
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
			return r.next(ctx, owner, 0, p.err)
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
	case doErr != nil && errors.Is(ctx.Err(), context.Canceled): // the manager stops, which is no failure of the owner
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
	return r.next(ctx, owner, after, p.err)
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
	return r.turns.Forget(ctx, owner)
}

// noteInFlight records a pass as in flight, or returns why the owner must wait. Without a record it does nothing.
func (r *reconciler[T]) noteInFlight(owner T) (inflight.Running, *inflight.Hold) {
	if r.inFlight == nil {
		return inflight.Running{}, nil
	}
	return r.inFlight.Begin(inflight.Pass{
		Controller: r.engine.name, Namespace: owner.GetNamespace(), Name: owner.GetName(), UID: string(owner.GetUID()),
	})
}

// quarantine reports on an owner that its pass is postponed, and until when.
func (r *reconciler[T]) quarantine(ctx context.Context, owner T, hold *inflight.Hold) (reconcile.Result, error) {
	after := max(hold.Until.Sub(r.now()), conflictDelay)
	if hold.Ends == 0 { // the owner only waits for another pass to end
		return reconcile.Result{RequeueAfter: after}, nil
	}
	log.FromContext(ctx).Info("postponed", "reason", hold.Error())
	again, err := r.reportUnplanned(ctx, owner, Result{}, hold)
	return r.next(ctx, owner, sooner(after, again), err)
}

// observe reads the owner's children into the pass. It returns the view of the plan: the children, the objects of the watch sources,
// and the external state. Without a kept one (nil) it calls External.
func (r *reconciler[T]) observe(ctx context.Context, p *pass, owner T, kept *memory.ExternalState) (View, error) {
	owned := r.owned.Load()
	v, err := r.observeCluster(ctx, p, owner, owned)
	switch {
	case err != nil || !r.asksExternal(owner):
		return v, err
	case kept != nil:
		v.observed.External = kept.State
		return v, nil
	}
	state, err := r.observeExternal(ctx, owner, v)
	if err != nil {
		return v, err
	}
	if now := r.owned.Load(); now != owned { // External may have called OwnsLater, and the plan asks for the kind
		v, err = r.observeCluster(ctx, p, owner, now)
	}
	v.observed.External = state
	return v, err
}

// A pass that calls External asks for its slot twice: before it, because many owners may wait, and after it. If others have taken the slot
// meanwhile, the pass is postponed and the state kept. The next pass then calls no External, so that its plan runs in the slot that it
// gets. Otherwise an expensive namespace that takes each free slot at once would leave it none.

// asksExternal reports whether the view of an owner needs the state of something outside the cluster.
func (r *reconciler[T]) asksExternal(owner T) bool {
	return r.external != nil && owner.GetDeletionTimestamp() == nil
}

// keptExternal returns the external state that a postponed pass has kept; nil for none.
func (r *reconciler[T]) keptExternal(owner T) *memory.ExternalState {
	if !r.asksExternal(owner) {
		return nil
	}
	return r.engine.memory.External.Of(owner, r.now())
}

// beginOrAsk returns the slot of a plan, or the delay of its pass. A pass that calls External first gets no slot.
func (r *reconciler[T]) beginOrAsk(namespace string, asks, observed bool) (fairshare.Slot, time.Duration) {
	switch {
	case asks:
		return fairshare.Slot{}, r.limiter.Ask(namespace, r.now())
	case observed:
		return r.limiter.BeginObserved(namespace, r.now())
	default:
		return r.limiter.Begin(namespace, r.now())
	}
}

// observationFailed is the error of an operator's External. It doesn't unwrap its cause: an error of another API server, such as a
// conflict or an invalid request, says nothing about the owner's children.
type observationFailed struct{ cause error }

func (f observationFailed) Error() string { return "observe the external state: " + f.cause.Error() }

// observeExternal calls the operator's External. Unlike a plan it isn't pure, so after a panic it is tried again, as after an error.
func (r *reconciler[T]) observeExternal(ctx context.Context, owner T, observed View) (state any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = observationFailed{fmt.Errorf("it panicked: %v; the log has the stack", cause)}
			log.FromContext(ctx).Error(err, "External must not panic", "stack", string(debug.Stack()))
		}
	}()
	if state, err = r.external(ctx, owner, observed); err != nil {
		return nil, observationFailed{err}
	}
	return state, nil
}

// observeCluster returns the view without the external state. Invariant: the view has the objects of all kinds for which its plan may ask,
// whenever OwnsLater adds a kind.
func (r *reconciler[T]) observeCluster(ctx context.Context, p *pass, owner T, owned *ownedKinds) (View, error) {
	if err := p.observed.Observe(ctx, owned.kinds...); err != nil {
		return View{}, err
	}
	if r.byName != nil {
		again, err := r.byName.Observe(ctx, &p.observed)
		if err != nil {
			return View{}, err
		}
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, again)
	}
	for _, k := range r.crossNamespace {
		if err := p.observed.ObserveCrossNamespace(ctx, k); err != nil {
			return View{}, err
		}
	}
	v := View{Now: r.now().UTC(), observed: view.Of(maps.Values(p.observed.ByKey))}
	v.observed.Asked = &plancheck.Asked{Declared: owned.declared}
	for _, w := range r.watches {
		objs, err := w.Observe(ctx, owner, p.observed.ByKey)
		if err != nil {
			return View{}, watchUnread{err}
		}
		v.observed.Add(w.from, reflect.TypeOf(w.like), objs)
	}
	return v, nil
}

// watchUnread is the error of a watch source whose objects can't be read.
type watchUnread struct{ error }

func (w watchUnread) Unwrap() error { return w.error }

// isOnlyForPlan reports whether the observation has failed at something that only a plan needs: the objects of a watch source, or one of
// the author's functions. The end of an owner needs its children, and no plan.
func isOnlyForPlan(err error) bool {
	return errors.As(err, new(watchUnread)) || errors.Is(err, ErrMisuse)
}

// unobserved is the error of an observation that the API server has refused.
type unobserved struct{ error }

func (u unobserved) Unwrap() error { return u.error }

// endUnobserved ends a pass whose observation failed, before there is a plan. It reports on the owner that one of the operator's own
// functions failed or that a permission is missing, beside the contests of its children. Another error may be gone a second later: it is
// only returned, unless others wait for the owner's turn.
func (r *reconciler[T]) endUnobserved(ctx context.Context, p *pass, owner T, err error) (reconcile.Result, error) {
	isOwn := errors.As(err, new(observationFailed)) || errors.Is(err, ErrMisuse)
	switch {
	case !isOwn && !apierrors.IsForbidden(err) && (r.turns == nil || !r.turns.HoldsUp(owner)):
		return reconcile.Result{}, err
	case ctx.Err() != nil: // the manager stops
		return reconcile.Result{}, ctx.Err()
	}
	if !isOwn {
		err = unobserved{err}
	}
	again, reportErr := r.reportUnplanned(ctx, owner, p.finish(err), err)
	return r.next(ctx, owner, again, errors.Join(err, reportErr))
}

// reportUnplanned reports on an owner why its pass has no plan. In a roll-out of a new build the owner keeps its place, and its turn halts
// the roll-out when it has taken too long. It returns when the owner asks for its turn again, 0 for never.
func (r *reconciler[T]) reportUnplanned(ctx context.Context, owner T, res Result, why error) (again time.Duration, err error) {
	if r.turns != nil {
		if res.turn, err = r.turns.Unplanned(ctx, owner); err != nil {
			return 0, err
		}
		if res.turn != nil && res.turn.AsksAgain {
			again = unplannedPoll
		}
	}
	r.engine.emitResult(owner, "", res, why)
	_, _, err = r.writeStatus(ctx, owner, Plan[T]{}, res, why, r.now())
	r.engine.emitStatusFailure(owner, err)
	if err == nil && res.turn != nil {
		r.emitTurn(owner, res.turn)
	}
	if res.turn != nil && res.turn.Mark.Reason == events.ReasonRolloutHalted {
		again = sooner(again, haltedPoll)
	}
	return again, err
}

// learnByName drops the children that are read by name and that the pass may have changed. If a plan must read them again, another pass
// follows.
func (r *reconciler[T]) learnByName(p *pass, err error) {
	wrote := func(gk schema.GroupKind) bool {
		return slices.ContainsFunc(p.result.Changes, func(c Change) bool { return c.Key.GroupKind() == gk })
	}
	if r.byName.Learn(p.owner, wrote, err != nil) {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, conflictDelay)
	}
}

// makePlan calls the plan and checks its result. For an invalid plan it returns an empty plan and an error. A plan is a pure function,
// so a retry can't fix its panic.
func (r *reconciler[T]) makePlan(ctx context.Context, owner T, view View) (plan Plan[T], err error) {
	witnesses, repeat := r.guard.Before(owner, view.observed.Objects())
	plan, err = callPlan(ctx, r.plan, owner, view)
	if err == nil {
		err = errors.Join(view.observed.Asked.Err(), plan.check(view.observed.Asked.Declared, r.effects, owner))
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

// next returns when the next pass runs. It doesn't retry terminal errors, unless the plan requests a pass at once: then with backoff. It
// retries conflicts without logging them, unless they don't end, and looks for an unknown kind once a minute.
func (r *reconciler[T]) next(ctx context.Context, owner client.Object, after time.Duration, err error) (reconcile.Result, error) {
	conflicts := r.engine.memory.Conflicts
	row, _ := conflicts.Get(owner.GetUID())
	if !isConflict(err) {
		conflicts.Remove(owner.GetUID())
	}
	switch until := kinds.MissingUntil(err); {
	case err == nil:
		return reconcile.Result{RequeueAfter: after}, nil
	case !until.IsZero():
		log.FromContext(ctx).Error(err, "looked for again once a minute")
		return reconcile.Result{RequeueAfter: sooner(after, max(until.Sub(r.now()), conflictDelay))}, nil
	case isConflict(err) && row < maxConflicts:
		conflicts.Add(owner.GetUID(), row+1)
		log.FromContext(ctx).V(1).Info("conflict, trying again", "err", err.Error())
		return reconcile.Result{RequeueAfter: conflictDelay}, nil
	case !IsTerminal(err):
		return reconcile.Result{}, err
	case after > 0 && after <= shortestRequeue: // a plan that wants to act on what it has recorded: it would fail 20 times a second
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
