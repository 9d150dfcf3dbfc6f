package builder

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/view"
	"github.com/armature-dev/armature/store"
)

// observedChildren are an owner's children by key. The cache shares the objects: read only.
type observedChildren map[store.Key]client.Object

// observe reads the owner's children into the pass. It returns the view of the plan: the children, the objects of the watch sources,
// and the external state.
func (r *reconciler[T]) observe(ctx context.Context, p *pass, owner T) (View, error) {
	if err := p.observeKinds(ctx, r.owned.Load().kinds...); err != nil {
		return View{}, err
	}
	if r.byName != nil {
		if err := r.observeByName(ctx, p); err != nil {
			return View{}, err
		}
	}
	for _, k := range r.crossNamespace {
		if err := p.observeCrossNamespace(ctx, k); err != nil {
			return View{}, err
		}
	}
	v := View{Now: r.now(), observed: view.Of(maps.Values(p.observed))}
	asked := &plancheck.Asked{Declared: r.owned.Load().declared}
	v.observed.Asked = asked
	for _, w := range r.watches {
		objs, err := w.Observe(ctx, owner, p.observed)
		if err != nil {
			return View{}, err
		}
		v.observed.Add(w.from, reflect.TypeOf(w.like), objs)
	}
	if r.external == nil || owner.GetDeletionTimestamp() != nil {
		return v, nil
	}
	state, err := r.observeExternal(ctx, owner, v)
	v.observed.External = state
	asked.Declared = r.owned.Load().declared // External may have called OwnsLater
	return v, err
}

// observeKinds reads the owner's children of some kinds, each once a pass.
func (p *pass) observeKinds(ctx context.Context, of ...kinds.Kind) error {
	lists, n := make([][]client.Object, len(of)), 0
	for i, k := range of {
		if p.listed[k] {
			continue
		}
		list, err := p.engine.listOwned(ctx, p.owner, k)
		if err != nil && !kinds.IsGone(err) { // an unknown kind has no objects; a write of one returns the error
			return err
		}
		p.listed[k] = true
		lists[i], n = list, n+len(list)
	}
	if len(p.observed) == 0 {
		p.observed = make(observedChildren, n) // preallocated: growing it is a large part of a pass's cost
	}
	for i, k := range of {
		for _, obj := range lists[i] {
			p.observed[k.Key(obj)] = obj
		}
	}
	return nil
}

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

// find returns the object of a key, of any owner, from the cache, or nil if it doesn't exist.
func (p *pass) find(ctx context.Context, k kinds.Kind, key store.Key) (client.Object, error) {
	if p.engine.isIndexed(k) {
		if err := p.observeKinds(ctx, k); err != nil {
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
