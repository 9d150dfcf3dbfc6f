package builder

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// now is the clock of operators; tests give a loop another.
func now() time.Time { return time.Now() }

// loop is the reconciler of an Operator.
type loop[T client.Object] struct {
	engine *Engine
	plan   PlanFunc[T]
	owned  []client.Object
	refs   []referredKind[T]
	now    func() time.Time
}

// Reconcile runs one pass: look, plan, apply, delete, prune, write the status, tell.
func (l *loop[T]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	owner := newOwner[T]()
	if err := l.engine.client.Get(ctx, req.NamespacedName, owner, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	p, err := l.engine.newPass(owner)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	view, err := l.look(ctx, p, owner)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := l.plan(owner, view)
	doErr := p.carryOut(ctx, plan.Children, plan.Delete, plan.Prune)
	res := p.finish()
	l.engine.tell(owner, res, doErr)
	statusErr := l.writeStatus(ctx, owner, plan, doErr, view.Now)
	if statusErr == nil {
		for _, ev := range plan.Events {
			l.engine.emit(owner, ev)
		}
	}
	return l.next(ctx, plan.RequeueAfter, res, doErr, statusErr)
}

// carryOut does what a plan says about children. An owner that is being deleted gets no new ones.
func (p *pass) carryOut(ctx context.Context, wants []Child, deletes, prunes []client.Object) error {
	if p.owner.GetDeletionTimestamp() != nil {
		return nil
	}
	if err := p.apply(ctx, wants); err != nil {
		return err
	}
	if err := p.deleteGiven(ctx, deletes); err != nil {
		return err
	}
	return p.prune(ctx, prunes)
}

// look gathers what the plan is shown.
func (l *loop[T]) look(ctx context.Context, p *pass, owner T) (View, error) {
	for _, kind := range l.owned {
		if _, err := p.look(ctx, kind); err != nil {
			return View{}, err
		}
	}
	view := View{Now: l.now(), owned: map[reflect.Type][]client.Object{}, referred: map[reference]client.Object{}}
	for _, obj := range p.seen {
		t := reflect.TypeOf(obj)
		view.owned[t] = append(view.owned[t], obj)
	}
	for _, ref := range l.refs {
		for _, name := range ref.names(owner) {
			obj := reflect.New(reflect.TypeOf(ref.like).Elem()).Interface().(client.Object)
			key := types.NamespacedName{Namespace: owner.GetNamespace(), Name: name}
			err := l.engine.client.Get(ctx, key, obj, client.UnsafeDisableDeepCopy)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return View{}, fmt.Errorf("read %T %s: %w", ref.like, key, err)
			}
			view.referred[reference{reflect.TypeOf(obj), name}] = obj
		}
	}
	return view, nil
}

// next says when to look again. Errors that retrying can't mend are not retried; conflicts are, without noise.
func (l *loop[T]) next(ctx context.Context, after time.Duration, res Result, doErr, statusErr error) (reconcile.Result, error) {
	for _, err := range []error{doErr, statusErr} {
		switch {
		case err == nil:
		case isConflict(err):
			log.FromContext(ctx).V(1).Info("conflict, trying again", "error", err.Error())
			return reconcile.Result{RequeueAfter: conflictDelay}, nil
		case IsTerminal(err):
			return reconcile.Result{RequeueAfter: after}, reconcile.TerminalError(err)
		default:
			return reconcile.Result{}, err
		}
	}
	if len(res.Waiting) > 0 && (after == 0 || after > waitForDeletion) {
		after = waitForDeletion
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

// conflictDelay lets the cache catch up with the write that came first.
const conflictDelay = 50 * time.Millisecond

// listForOwner returns an empty list of an owner's kind.
func (e *Engine) listForOwner(owner client.Object) (client.ObjectList, error) {
	gvk, err := apiutil.GVKForObject(owner, e.client.Scheme())
	if err != nil {
		return nil, err
	}
	return e.listFor(gvk, owner)
}

// requestsFor asks for a pass over each object of a list.
func requestsFor(list client.ObjectList) []reconcile.Request {
	var requests []reconcile.Request
	_ = meta.EachListItem(list, func(o runtime.Object) error { // fails only for what is no list
		if obj, ok := o.(client.Object); ok {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
		}
		return nil
	})
	return requests
}
