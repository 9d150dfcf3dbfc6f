package builder

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// children is what an owner has, by key. Its objects are shared with the cache: read only.
type children map[store.Key]client.Object

// read returns the object of a key, whoever's it is, or nil if there is none. From a cache it is shared: read only.
func (e *Engine) read(ctx context.Context, from client.Reader, k kinds.Kind, key store.Key) (client.Object, error) {
	found, err := e.readKnown(ctx, from, k, key)
	if apierrors.IsNotFound(err) { // not even its kind is there
		return nil, nil
	}
	return found, err
}

// readKnown is read, but returns an error if the cluster doesn't know the kind.
func (e *Engine) readKnown(ctx context.Context, from client.Reader, k kinds.Kind, key store.Key) (client.Object, error) {
	found, err := e.kinds.Empty(k)
	if err != nil {
		return nil, err
	}
	err = from.Get(ctx, key.NamespacedName(), found, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) && !kinds.IsGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Key: key, Operation: "read", Err: err}
	}
	return found, nil
}

// wrote notes a write for the owner.
func (p *pass) wrote(k kinds.Kind, key store.Key) {
	if !p.engine.dry && p.engine.isIndexed(k) {
		p.engine.memory.Written.Add(p.owner.GetUID(), k, key)
	}
}

// awaitOwnWrites reads what was written for an owner: a consistent client's read of an object waits for the writes of
// that object alone.
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
			return &Error{Key: key, Operation: "read", Err: err}
		}
	}
	return nil
}
