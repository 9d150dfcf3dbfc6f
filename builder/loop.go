package builder

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/throttle"
	"github.com/armature-dev/armature/store"
)

// conflictDelay lets the cache catch up with the write that came first.
const conflictDelay = 50 * time.Millisecond

// loop is the reconciler of an Operator.
type loop[T client.Object] struct {
	engine  *Engine
	plan    PlanFunc[T]
	owner   kind
	owned   atomic.Pointer[ownedKinds]
	away    []kind // children elsewhere
	refs    []referredKind[T]
	reads   []readKind
	through []throughKind
	naming  []namingKind
	indexed bool // what names owners is
	sense   func(context.Context, T, View) (any, error)
	now     func() time.Time // the clock; tests give another

	guard guard

	statusWrites throttle.Statuses
	pace         *throttle.Passes // nil: every event has its pass, for tests
	quarantine   *Quarantine      // nil: none
}

// Reconcile runs one pass: look, plan, apply, edit, delete, prune, write the status, tell, delete the owner.
func (l *loop[T]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if l.pace != nil {
		if left := l.pace.Left(req.NamespacedName, l.now()); left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
	}
	owner := newOwner[T]()
	if err := l.engine.client.Get(ctx, req.NamespacedName, owner, client.UnsafeDisableDeepCopy); err != nil {
		if apierrors.IsNotFound(err) {
			l.engine.Forget(owner, req.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	running, hold := l.quarantine.begin(l.engine.name, owner)
	if hold != nil {
		return l.putOff(ctx, owner, hold)
	}
	defer running.End()
	p, err := l.engine.newPass(owner)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	ctx, end := l.engine.tracePass(ctx, owner)
	view, err := l.look(ctx, p, owner)
	if err != nil {
		end(err)
		return reconcile.Result{}, err
	}
	begun := l.now()
	plan, planErr := l.makePlan(ctx, owner, view)
	took := l.now().Sub(begun)
	p.await, p.phasing, p.prunes = plan.Report, phasing{plan.Phases, plan.OnFailure, plan.InstallInOrder, plan.CompletedRevision}, plan.Prune
	p.pruneAll = plan.PruneAll
	doErr := planErr
	if planErr == nil || owner.GetDeletionTimestamp() != nil { // an owner that goes needs no plan
		doErr = errors.Join(planErr, p.carryOut(ctx, plan.Children, plan.Edits, plan.Scales, plan.Delete))
	}
	res := p.finish(doErr)
	res.WaitingFor = plan.WaitingFor
	if errors.Is(doErr, errOwnerGone) {
		end(nil)
		return reconcile.Result{}, nil
	}
	p.countWaiting("", res)
	if l.pace != nil {
		l.pace.Note(req.NamespacedName, took, len(res.Changes) > 0 || doErr != nil, l.now())
	}
	l.engine.tell(owner, "", res, doErr)
	putOff, written, statusErr := l.writeStatus(ctx, owner, plan, res, doErr, view.Now)
	if statusErr == nil && putOff == 0 {
		l.tellWaiting(owner, res, doErr)
		for _, ev := range plan.Events {
			l.engine.emit(owner, ev)
		}
	}
	err = errors.Join(doErr, statusErr)
	if plan.DeleteOwner && err == nil {
		err = l.engine.deleteOwner(ctx, owner, written)
	}
	end(err)
	after := sooner(putOff, sooner(plan.RequeueAfter, res.RequeueAfter))
	if until := missingUntil(err); !until.IsZero() {
		log.FromContext(ctx).Error(err, "looked for again once a minute")
		return reconcile.Result{RequeueAfter: sooner(after, max(until.Sub(l.now()), conflictDelay))}, nil
	}
	return next(ctx, after, err)
}

// carryOut does what a plan says about children. An owner that is being deleted gets no new ones, and loses those that
// garbage collection doesn't reach.
func (p *pass) carryOut(ctx context.Context, wants []Child, edits []Edit, scales []Scale, deletes []client.Object) error {
	if p.owner.GetDeletionTimestamp() != nil {
		return p.cleanUp(ctx, wants)
	}
	if err := p.recordKinds(ctx, wants); err != nil {
		return err
	}
	done, err := p.applyAll(ctx, wants)
	if err != nil {
		return err
	}
	if err := p.editGiven(ctx, edits); err != nil {
		return err
	}
	if err := p.scaleGiven(ctx, scales); err != nil {
		return err
	}
	if err := p.deleteGiven(ctx, deletes); err != nil || !done {
		return err
	}
	return p.prune(ctx, p.prunes)
}

// look gathers what the plan is shown.
func (l *loop[T]) look(ctx context.Context, p *pass, owner T) (View, error) {
	if err := p.look(ctx, l.owned.Load().kinds...); err != nil {
		return View{}, err
	}
	for _, k := range l.away {
		if err := p.lookElsewhere(ctx, k); err != nil {
			return View{}, err
		}
	}
	grandchildren, err := l.lookThrough(ctx, p)
	if err != nil {
		return View{}, err
	}
	view := newView(l.now(), slices.Values(append(slices.Collect(maps.Values(p.seen)), grandchildren...)))
	p.misuse.declared, view.misuse = l.owned.Load().declared, &p.misuse
	if err := l.lookAround(ctx, &view); err != nil {
		return View{}, err
	}
	for _, ref := range l.refs {
		for _, name := range ref.names(owner) {
			if name == "" {
				continue
			}
			at, err := p.engine.nameIn(ref.kind, owner.GetNamespace(), name)
			if err != nil {
				return View{}, err
			}
			obj, err := p.engine.read(ctx, p.engine.client, ref.kind, store.KeyOf(ref.kind.gvk, at.Namespace, at.Name))
			if err != nil {
				return View{}, err
			}
			if obj != nil {
				view.refer(obj)
			}
		}
	}
	if err := l.lookForNames(ctx, owner, &view); err != nil {
		return View{}, err
	}
	err = l.lookOutside(ctx, owner, &view)
	p.misuse.declared = l.owned.Load().declared // what is sensed may have added a kind
	return view, err
}

// next says when to look again. Errors that retrying can't mend are not retried; conflicts are, without noise.
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

// sooner returns the smaller of two times of which 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || (b > 0 && b < a) {
		return max(b, 0)
	}
	return a
}
