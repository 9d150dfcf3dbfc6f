package builder

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
