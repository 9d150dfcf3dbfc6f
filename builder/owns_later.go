package builder

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	watchsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/plancheck"
)

// ownedKinds are the kinds of an operator's children, and all kinds that the operator declares. The value is immutable: OwnsLater
// replaces it.
type ownedKinds struct {
	kinds    []kinds.Kind
	declared *plancheck.Declared
}

// completed is the state of an operator after Complete.
type completed[T client.Object] struct {
	mu         sync.Mutex
	controller controller.Controller
	reconciler *reconciler[T]
}

// OwnsLater is [Operator.Owns] for a completed operator. Use it for a kind whose API was installed after the program started. From
// then on an event of such a child runs its owner's plan, and plans may have children of the kind; the view has them from the next
// pass on. For a kind that the operator owns already it does nothing. It is safe for concurrent use, also from the function of
// [Operator.External]. For a kind that isn't installed it returns the error of the RESTMapper.
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
	o.owned = append(o.owned, owns{like: obj, owner: reflect.TypeFor[T]()})
	before := running.reconciler.owned.Load()
	running.reconciler.owned.Store(&ownedKinds{append(slices.Clip(before.kinds), k), o.declared()})
	return nil
}
