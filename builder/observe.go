package builder

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/store"
)

// children are an owner's children by key. The cache shares the objects: read only.
type children map[store.Key]client.Object

// Index indexes a kind by the controller of its objects, so that a pass finds an owner's children without a scan; with
// [CrossNamespace] by the owner of cross-namespace children. Other options don't matter. Call it once for each kind, before the
// manager starts, with manager.GetFieldIndexer(). An [Operator] calls it for the kinds that it owns. Without an index a pass reads
// each child by name, and pruning lists the namespace.
func (e *Engine) Index(ctx context.Context, indexer client.FieldIndexer, kind client.Object, opts ...ChildOption) error {
	k, err := e.kinds.Of(kind)
	if err != nil {
		return err
	}
	if Want(kind, opts...).desired.CrossNamespace {
		return e.crossNamespace.Add(ctx, indexer, k, kind)
	}
	return e.byController.Add(ctx, indexer, k, kind)
}

func (e *Engine) isIndexed(k kinds.Kind) bool { return e.byController.Has(k) }

// listOwned returns the owner's children of one kind. The cache shares the objects: read only.
func (e *Engine) listOwned(ctx context.Context, owner client.Object, k kinds.Kind) ([]client.Object, error) {
	if err := e.awaitOwnWrites(ctx, owner.GetUID(), k); err != nil {
		return nil, err
	}
	owned, err := e.byController.List(ctx, e.client, owner.GetUID(), owner.GetNamespace(), k)
	if err != nil {
		return nil, fmt.Errorf("observe the children of %s: %w", owner.GetName(), err)
	}
	return owned, nil
}

// cached returns a reader of the cache, if the engine's client has a cache.
func (e *Engine) cached() sources.Reader { return sources.Reader{From: e.client, Kinds: e.kinds} }

// read returns the object of a key, of any owner, or nil if it doesn't exist. A cache shares the object: read only.
func (e *Engine) read(ctx context.Context, from client.Reader, k kinds.Kind, key store.Key) (client.Object, error) {
	found, err := e.readKnown(ctx, from, k, key)
	if apierrors.IsNotFound(err) { // also for a missing kind
		return nil, nil
	}
	return found, err
}

// readKnown is read, but returns an error if the cluster doesn't know the kind.
func (e *Engine) readKnown(ctx context.Context, from client.Reader, k kinds.Kind, key store.Key) (client.Object, error) {
	found, err := sources.Reader{From: from, Kinds: e.kinds}.Get(ctx, k, key)
	if err != nil {
		return nil, &Error{Key: key, Operation: "read", cause: err}
	}
	return found, nil
}

// find returns the object of a key, of any owner, from the cache, or nil if it doesn't exist.
func (p *pass) find(ctx context.Context, k kinds.Kind, key store.Key) (client.Object, error) {
	if p.engine.isIndexed(k) {
		if err := p.observe(ctx, k); err != nil {
			return nil, err
		}
	}
	if observed := p.observed[key]; observed != nil && kinds.IsUntyped(observed) == k.Untyped {
		return observed, nil
	}
	observed, err := p.engine.readKnown(ctx, p.engine.client, k, key)
	if observed != nil {
		p.rememberObserved(key)
	}
	return observed, p.engine.kinds.NoteMissing(k.GVK, err)
}

// ownByName returns the reader of the kinds whose children are read by name. It makes the engine's client read these kinds from the
// API server.
func (e *Engine) ownByName(named []sources.NamedKind) *sources.ByName {
	live := sources.Reader{From: e.live, Kinds: e.kinds}
	if with, ok := e.client.(telemetry.Client); ok {
		with.Client = sources.Uncached(with.Client, live, named...)
		e.client = with
	}
	return sources.NewByName(live, e.now, named...)
}

// wrote records a write for the owner.
func (p *pass) wrote(k kinds.Kind, key store.Key) {
	if !p.engine.dry && p.engine.isIndexed(k) {
		p.engine.memory.Written.Add(p.owner.GetUID(), k, key)
	}
}

// awaitOwnWrites waits until the cache has what earlier passes wrote for an owner. It reads each of these objects by name: with
// read-your-writes consistency, such a read waits for the writes of that object, and of no other.
func (e *Engine) awaitOwnWrites(ctx context.Context, owner types.UID, k kinds.Kind) error {
	keys := e.memory.Written.Take(owner, k)
	if len(keys) == 0 {
		return nil
	}
	into, err := e.kinds.Empty(k)
	if err != nil {
		return err
	}
	for i, key := range keys {
		err := e.client.Get(ctx, key.NamespacedName(), into, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			e.memory.Written.Add(owner, k, keys[i:]...)
			return &Error{Key: key, Operation: "read", cause: err}
		}
	}
	return nil
}
