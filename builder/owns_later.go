package builder

import (
	"context"
	"fmt"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	watchsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// ownedKinds are the kinds of which owners have children, and with them all that the operator declares. It isn't changed:
// what comes later is another.
type ownedKinds struct {
	kinds    []kinds.Kind
	declared *declarations
}

// completed is an operator that its manager runs.
type completed[T client.Object] struct {
	mu         sync.Mutex
	controller controller.Controller
	loop       *loop[T]
}

// OwnsLater is [Operator.Owns] for an operator that is completed already: for a kind whose API was installed after the
// program had been started. From now on a change of such a child runs its owner's plan, and plans may have children of the
// kind; the view has it from the next pass on. Of a kind that the operator owns it does nothing. It is safe for concurrent
// use, also from the function of [Operator.External]. A kind that isn't installed is an error of its RESTMapper's.
func (o *Operator[T]) OwnsLater(ctx context.Context, obj client.Object) error {
	running := o.completed
	if running == nil {
		return fmt.Errorf("operator %s: %w: OwnsLater before Complete; Owns is what declares a kind before", o.name, ErrMisuse)
	}
	k, err := o.engine.kinds.Of(obj)
	if err != nil {
		return fmt.Errorf("operator %s: OwnsLater: %w", o.name, err)
	}
	running.mu.Lock()
	defer running.mu.Unlock()
	if o.engine.isIndexed(k) {
		return nil
	}
	if _, err := o.mgr.GetRESTMapper().RESTMapping(k.GVK.GroupKind(), k.GVK.Version); err != nil {
		return fmt.Errorf("operator %s: OwnsLater: %w", o.name, err)
	}
	if err := o.engine.Index(ctx, o.mgr.GetFieldIndexer(), obj); err != nil {
		return fmt.Errorf("operator %s: OwnsLater: %w", o.name, err)
	}
	owners := handler.EnqueueRequestForOwner(o.mgr.GetScheme(), o.mgr.GetRESTMapper(), newOwner[T](), handler.OnlyControllerOwner())
	if err := running.controller.Watch(watchsource.Kind(o.mgr.GetCache(), obj, owners)); err != nil {
		return fmt.Errorf("operator %s: OwnsLater: watch %s: %w", o.name, k.GVK.GroupKind(), err)
	}
	o.owned = append(o.owned, obj)
	before := running.loop.owned.Load()
	running.loop.owned.Store(&ownedKinds{append(before.kinds[:len(before.kinds):len(before.kinds)], k), o.declarations()})
	return nil
}
