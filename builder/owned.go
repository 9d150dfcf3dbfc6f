package builder

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// Index indexes a kind by its controller, so that an owner's children are found without looking at others'; with [CrossNamespace] by
// the owner of cross-namespace children. Of the options only that one matters. Call it once for each kind, before the manager
// starts, with manager.GetFieldIndexer(); an Operator does so for the kinds that it owns. Without an index a pass reads each child by
// name, and pruning lists the namespace.
func (e *Engine) Index(ctx context.Context, indexer client.FieldIndexer, kind client.Object, opts ...ChildOption) error {
	k, err := e.kinds.Of(kind)
	if err != nil {
		return err
	}
	if Want(kind, opts...).crossNamespace {
		return e.indexCrossNamespace(ctx, indexer, k, kind)
	}
	i, err := e.index(ctx, indexer, kind)
	if err != nil {
		return fmt.Errorf("index %s by controller: %w", k.GVK.GroupKind(), err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.indexed[k] = i
	return nil
}

// index is how the objects of a kind are found by their controller: in an informer, without copies, or if that can't
// be had (a cache of several namespaces, a fake) by a list of the client's with a field selector.
type index struct {
	informer sharedInformer
	await    func(context.Context) error // until the informer has all objects
}

// sharedInformer is a [toolscache.SharedIndexInformer], as far as it is needed.
type sharedInformer interface {
	GetIndexer() toolscache.Indexer
	HasSynced() bool
}

func (e *Engine) index(ctx context.Context, indexer client.FieldIndexer, obj client.Object) (index, error) {
	if informers, ok := indexer.(cache.Informers); ok {
		informer, err := informers.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
		if err != nil {
			return index{}, err
		}
		if shared, ok := informer.(sharedInformer); ok {
			await := func(ctx context.Context) error {
				_, err := informers.GetInformer(ctx, obj)
				return err
			}
			return index{shared, await}, informer.AddIndexers(toolscache.Indexers{e.ownerIndex(): controllersOf})
		}
	}
	return index{}, indexer.IndexField(ctx, obj, e.ownerIndex(), controllerUIDs)
}

// ownerIndex is the index's name. It has the engine's name in it, since two controllers may own the same kind.
func (e *Engine) ownerIndex() string { return "armature.controllerUID/" + e.name }

// controllerUIDs is the index's value: the UID of the controller.
func controllerUIDs(o client.Object) []string {
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return []string{string(ref.UID)}
	}
	return nil
}

func controllersOf(obj any) ([]string, error) {
	o, ok := obj.(client.Object)
	if !ok {
		return nil, fmt.Errorf("the cache holds a %T", obj)
	}
	return controllerUIDs(o), nil
}

func (e *Engine) isIndexed(k kinds.Kind) bool {
	_, ok := e.indexOf(k)
	return ok
}

func (e *Engine) indexOf(k kinds.Kind) (index, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	i, ok := e.indexed[k]
	return i, ok
}

// listOwned returns the owner's children of one kind. They are shared with the cache: read only.
func (e *Engine) listOwned(ctx context.Context, owner client.Object, k kinds.Kind) ([]client.Object, error) {
	if err := e.awaitOwnWrites(ctx, owner.GetUID(), k); err != nil {
		return nil, err
	}
	owned, err := e.controlledBy(ctx, owner.GetUID(), owner.GetNamespace(), k)
	if err != nil {
		return nil, fmt.Errorf("list %s owned by %s: %w", k.GVK.GroupKind(), owner.GetName(), err)
	}
	return owned, nil
}

// controlledBy returns the objects of a kind that a controller has, in a namespace if that isn't empty.
func (e *Engine) controlledBy(ctx context.Context, controller types.UID, namespace string, k kinds.Kind) ([]client.Object, error) {
	i, indexed := e.indexOf(k)
	if i.informer == nil {
		return e.listControlledBy(ctx, controller, namespace, k, indexed)
	}
	if !i.informer.HasSynced() {
		if err := i.await(ctx); err != nil {
			return nil, err
		}
	}
	found, err := i.informer.GetIndexer().ByIndex(e.ownerIndex(), string(controller))
	if err != nil {
		return nil, err
	}
	owned := make([]client.Object, 0, len(found))
	for _, o := range found {
		if obj, ok := o.(client.Object); ok && (namespace == "" || obj.GetNamespace() == namespace) {
			owned = append(owned, obj)
		}
	}
	return owned, nil
}

// listControlledBy asks the client: by the index when there is one, else for the whole namespace.
func (e *Engine) listControlledBy(
	ctx context.Context, controller types.UID, namespace string, k kinds.Kind, indexed bool,
) ([]client.Object, error) {
	list, err := e.kinds.EmptyList(k)
	if err != nil {
		return nil, err
	}
	options := []client.ListOption{client.UnsafeDisableDeepCopy, client.InNamespace(namespace)}
	if indexed {
		options = append(options, client.DisableReadYourWritesConsistency, client.MatchingFields{e.ownerIndex(): string(controller)})
	}
	if err := e.client.List(ctx, list, options...); err != nil {
		return nil, err
	}
	owned := make([]client.Object, 0, meta.LenList(list))
	err = meta.EachListItem(list, func(o runtime.Object) error {
		obj, ok := o.(client.Object)
		if !ok {
			return nil
		}
		if ref := metav1.GetControllerOfNoCopy(obj); ref != nil && ref.UID == controller {
			owned = append(owned, obj)
		}
		return nil
	})
	return owned, err
}
