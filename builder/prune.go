package builder

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/store"
)

// prune deletes what the owner has of these kinds and does not want. It must not be called after an error in the
// pass: what is wanted would not be known in full.
func (p *pass) prune(ctx context.Context, kinds []client.Object) error {
	prunable := map[schema.GroupKind]bool{}
	for _, kind := range kinds {
		gvk, err := p.look(ctx, kind)
		if err != nil {
			return err
		}
		prunable[gvk.GroupKind()] = true
	}
	var existing []store.Key
	for key, obj := range p.seen {
		if prunable[key.GroupKind()] && obj.GetDeletionTimestamp() == nil {
			existing = append(existing, key)
		}
	}
	return p.deleteAll(ctx, p.wanted.Stale(existing))
}

// deleteGiven deletes children that a plan names.
func (p *pass) deleteGiven(ctx context.Context, objs []client.Object) error {
	var keys []store.Key
	for _, obj := range objs {
		gvk, err := apiutil.GVKForObject(obj, p.engine.client.Scheme())
		if err != nil {
			return fmt.Errorf("%w: %T is no registered kind: %w", ErrMisuse, obj, err)
		}
		key := store.KeyOf(gvk, obj.GetNamespace(), obj.GetName())
		if !metav1.IsControlledBy(obj, p.owner) {
			return notOwned(key, obj)
		}
		if obj.GetDeletionTimestamp() == nil {
			p.seen[key] = obj
			keys = append(keys, key)
		}
	}
	return p.deleteAll(ctx, keys)
}

func (p *pass) deleteAll(ctx context.Context, keys []store.Key) error {
	done := make([]bool, len(keys))
	err := inBatches(len(keys), p.engine.parallelism, func(i int) error {
		var err error
		done[i], err = p.delete(ctx, keys[i])
		return err
	})
	for i, key := range keys {
		if done[i] {
			p.changed(OperationDeleted, key, p.seen[key])
		}
	}
	return err
}

// delete removes one child, but only this very object in the state it was seen in.
func (p *pass) delete(ctx context.Context, key store.Key) (bool, error) {
	obj := p.seen[key].DeepCopyObject().(client.Object)
	err := p.engine.client.Delete(ctx, obj,
		client.Preconditions{UID: ptr.To(obj.GetUID()), ResourceVersion: ptr.To(obj.GetResourceVersion())},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, &Error{Key: key, Operation: "delete", Err: err}
	}
	return true, nil
}
