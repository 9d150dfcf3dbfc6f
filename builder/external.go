package builder

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

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

// endUnobserved ends a pass whose observation failed, before there is a plan. It reports on the owner that External failed, beside the
// contests of its children; another error is only returned.
func (r *reconciler[T]) endUnobserved(ctx context.Context, p *pass, owner T, err error) (reconcile.Result, error) {
	switch {
	case !errors.As(err, new(observationFailed)):
		return reconcile.Result{}, err
	case ctx.Err() != nil: // the manager stops
		return reconcile.Result{}, ctx.Err()
	}
	res := p.finish(err)
	r.engine.emitResult(owner, "", res, err)
	_, _, statusErr := r.writeStatus(ctx, owner, Plan[T]{}, res, err, r.now())
	r.engine.emitStatusFailure(owner, statusErr)
	return reconcile.Result{}, errors.Join(err, statusErr)
}
