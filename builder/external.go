package builder

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/builder/internal/fairshare"
	"github.com/armature-dev/armature/builder/internal/memory"
)

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
