package builder

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// prune deletes what the owner has of these kinds and does not want. It must not be called after an error in the
// pass: what is wanted would not be known in full.
func (p *pass) prune(ctx context.Context, objs []client.Object) error {
	prunable := map[schema.GroupKind]bool{}
	for _, obj := range objs {
		k, err := p.engine.kinds.of(obj)
		if err != nil {
			return err
		}
		if err := p.look(ctx, k); err != nil {
			return err
		}
		prunable[k.gvk.GroupKind()] = true
	}
	var existing []store.Key
	for key, obj := range p.seen {
		if prunable[key.GroupKind()] && obj.GetDeletionTimestamp() == nil {
			existing = append(existing, key)
		}
	}
	return p.deleteAll(ctx, p.wanted.Stale(existing))
}

// deleteGiven deletes children that a plan names. Nothing is deleted if one of them isn't the owner's.
func (p *pass) deleteGiven(ctx context.Context, objs []client.Object) error {
	var keys []store.Key
	for _, obj := range objs {
		k, err := p.engine.kinds.of(obj)
		if err != nil {
			return err
		}
		key := k.key(obj)
		if !metav1.IsControlledBy(obj, p.owner) {
			return notOwned("delete", key, obj)
		}
		if obj.GetUID() == "" || obj.GetResourceVersion() == "" {
			return fmt.Errorf("%w: %s to be deleted has no UID or resource version; take it from the view", ErrMisuse, key)
		}
		if obj.GetDeletionTimestamp() == nil {
			p.seen[key] = obj
			keys = append(keys, key)
		}
	}
	return p.deleteAll(ctx, keys)
}

// deleteAll deletes children that were seen.
func (p *pass) deleteAll(ctx context.Context, keys []store.Key) error {
	done := make([]bool, len(keys))
	var failing failingKinds
	err := inBatches(len(keys), p.engine.parallelism, func(i int) error {
		return failing.try(keys[i], func() (err error) {
			done[i], err = p.engine.delete(ctx, keys[i], p.seen[keys[i]])
			return err
		})
	})
	for i, key := range keys {
		if done[i] {
			p.changed(OperationDeleted, key, p.seen[key])
			delete(p.seen, key)
		}
	}
	return err
}

// delete removes an object, but only this very one in the state it was seen in. It reports false if it was gone.
func (e *Engine) delete(ctx context.Context, key store.Key, seen client.Object) (bool, error) {
	obj := seen.DeepCopyObject().(client.Object) // the client may write to it
	err := e.client.Delete(ctx, obj,
		client.Preconditions{UID: ptr.To(obj.GetUID()), ResourceVersion: ptr.To(obj.GetResourceVersion())},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, &Error{Key: key, Operation: "delete", Err: err, object: seen}
	}
	return true, nil
}
