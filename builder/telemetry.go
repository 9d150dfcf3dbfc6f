package builder

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// tracePass starts a span of a pass over an owner. The returned function ends it.
func (e *Engine) tracePass(ctx context.Context, owner client.Object) (context.Context, func(error)) {
	if !e.tracer.IsOn() || kinds.IsNil(owner) {
		return ctx, func(error) {}
	}
	key := store.Key{}
	if k, err := e.kinds.Of(owner); err == nil {
		key = k.Key(owner)
	}
	return e.tracer.Pass(ctx, key)
}

// countWaiting records the number of objects that a pass waits for, and of contested children, as metrics.
func (p *pass) countWaiting(scope string, res Result) {
	if p.engine.dry {
		return
	}
	p.engine.waiting.Set(p.ownerKey, scope, len(res.waiting()))
	p.engine.contested.Set(p.ownerKey, scope, len(res.contested()))
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

// Forget drops the engine's memory of a deleted owner. like is any object of the owner's kind. An [Operator] calls it; a reconciler of
// your own calls it when the owner isn't found, so that the metric armature_builder_objects_waiting no longer counts the owner's
// waiting objects.
func (e *Engine) Forget(like client.Object, owner types.NamespacedName) {
	if k, err := e.kinds.Of(like); err == nil {
		e.waiting.Forget(store.KeyOf(k.GVK, owner.Namespace, owner.Name))
		e.contested.Forget(store.KeyOf(k.GVK, owner.Namespace, owner.Name))
	}
}
