package builder

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// children is what an owner has, by key. Its objects are shared with the cache: read only.
type children map[store.Key]client.Object

// listOwned returns the owner's children of one kind.
func (e *Engine) listOwned(ctx context.Context, owner client.Object, k kind) ([]client.Object, error) {
	list, err := e.kinds.emptyList(k)
	if err != nil {
		return nil, err
	}
	if err := e.client.List(ctx, list, append(e.among(owner, k), client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("list %s owned by %s: %w", k.gvk.GroupKind(), owner.GetName(), err)
	}
	owned := make([]client.Object, 0, meta.LenList(list))
	err = meta.EachListItem(list, func(o runtime.Object) error {
		if obj, ok := o.(client.Object); ok && metav1.IsControlledBy(obj, owner) {
			owned = append(owned, obj)
		}
		return nil
	})
	return owned, err
}

// among narrows a list to where the owner's children are: by the index when there is one, else by namespace.
func (e *Engine) among(owner client.Object, k kind) []client.ListOption {
	var opts []client.ListOption
	if ns := owner.GetNamespace(); ns != "" {
		opts = append(opts, client.InNamespace(ns))
	}
	if e.isIndexed(k) {
		opts = append(opts, client.MatchingFields{e.ownerIndex(): string(owner.GetUID())})
	}
	return opts
}

// read returns the object of a key, whoever's it is, or nil if there is none. From a cache it is shared: read only.
func (e *Engine) read(ctx context.Context, from client.Reader, k kind, key store.Key) (client.Object, error) {
	found, err := e.kinds.empty(k)
	if err != nil {
		return nil, err
	}
	err = from.Get(ctx, key.NamespacedName(), found, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Key: key, Operation: "read", Err: err}
	}
	return found, nil
}
