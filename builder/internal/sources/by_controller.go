package sources

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// ByController finds the objects of a kind that a controller has. It reads them from an informer's index, without copies. Where there
// is no such index (a cache of several namespaces, a fake client), it lists them with a field selector, or without an index lists the
// namespace. It is safe for concurrent use.
type ByController struct {
	kinds *kinds.Registry
	field string

	mu      sync.RWMutex
	indexed map[kinds.Kind]index
}

// NewByController returns a ByController for an engine. The engine's name is part of the index's name, because two engines may own the
// same kind.
func NewByController(r *kinds.Registry, engine string) *ByController {
	return &ByController{kinds: r, field: "armature.controllerUID/" + engine, indexed: map[kinds.Kind]index{}}
}

// index is the way to find the objects of a kind.
type index struct {
	informer sharedInformer              // nil: by a list
	await    func(context.Context) error // until the informer has all objects
}

// sharedInformer is the used part of [toolscache.SharedIndexInformer].
type sharedInformer interface {
	GetIndexer() toolscache.Indexer
	HasSynced() bool
}

// Add indexes a kind. like is an empty object of the kind.
func (b *ByController) Add(ctx context.Context, indexer client.FieldIndexer, k kinds.Kind, like client.Object) error {
	i, err := b.add(ctx, indexer, like)
	if err != nil {
		return fmt.Errorf("index %s by controller: %w", k.GVK.GroupKind(), err)
	}
	b.mu.Lock()
	b.indexed[k] = i
	b.mu.Unlock()
	return nil
}

func (b *ByController) add(ctx context.Context, indexer client.FieldIndexer, like client.Object) (index, error) {
	if informers, ok := indexer.(cache.Informers); ok {
		informer, err := informers.GetInformer(ctx, like, cache.BlockUntilSynced(false))
		if err != nil {
			return index{}, err
		}
		if shared, ok := informer.(sharedInformer); ok {
			await := func(ctx context.Context) error {
				_, err := informers.GetInformer(ctx, like)
				return err
			}
			return index{shared, await}, informer.AddIndexers(toolscache.Indexers{b.field: controllersOf})
		}
	}
	return index{}, indexer.IndexField(ctx, like, b.field, controllerUIDs)
}

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

// Has reports whether a kind is indexed.
func (b *ByController) Has(k kinds.Kind) bool {
	_, ok := b.of(k)
	return ok
}

// Among returns those of some kinds that are indexed, in any version.
func (b *ByController) Among(kinds sets.Set[schema.GroupKind]) []schema.GroupKind {
	b.mu.RLock()
	defer b.mu.RUnlock()
	among := sets.Set[schema.GroupKind]{}
	for k := range b.indexed {
		if gk := k.GVK.GroupKind(); kinds.Has(gk) {
			among.Insert(gk)
		}
	}
	return among.UnsortedList()
}

// hasInformer reports whether a kind is indexed in an informer.
func (b *ByController) hasInformer(k kinds.Kind) bool {
	i, _ := b.of(k)
	return i.informer != nil
}

func (b *ByController) of(k kinds.Kind) (index, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	i, ok := b.indexed[k]
	return i, ok
}

// AwaitSync waits until the informer of a kind has all objects, or the context ends.
func (b *ByController) AwaitSync(ctx context.Context, k kinds.Kind) error {
	i, _ := b.of(k)
	return i.awaitSync(ctx)
}

func (i index) awaitSync(ctx context.Context) error {
	if i.informer == nil || i.informer.HasSynced() {
		return nil
	}
	return i.await(ctx)
}

// List returns the objects of a kind that a controller has, in a namespace if that isn't empty. Without an informer it reads them from
// a client.
func (b *ByController) List(
	ctx context.Context, from client.Reader, controller types.UID, namespace string, k kinds.Kind,
) ([]client.Object, error) {
	i, indexed := b.of(k)
	if i.informer == nil {
		options := []client.ListOption{client.InNamespace(namespace)}
		if indexed {
			options = append(options, client.DisableReadYourWritesConsistency, client.MatchingFields{b.field: string(controller)})
		}
		return Reader{from, b.kinds}.List(ctx, k, func(obj client.Object) bool {
			ref := metav1.GetControllerOfNoCopy(obj)
			return ref != nil && ref.UID == controller
		}, options...)
	}
	if err := i.awaitSync(ctx); err != nil {
		return nil, err
	}
	found, err := i.informer.GetIndexer().ByIndex(b.field, string(controller))
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
