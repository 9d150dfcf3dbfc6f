package builder

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// prune deletes the owner's children of these kinds that aren't desired. Don't call it after an error in the pass, because the pass
// then may not know all desired children.
func (p *pass) prune(ctx context.Context, objs []client.Object) error {
	if len(objs) == 0 && !p.pruneAll {
		return nil
	}
	prunable := map[schema.GroupKind]bool{}
	named, err := p.kindsToPrune(objs)
	if err != nil {
		return err
	}
	for _, k := range named {
		if err := p.engine.kinds.NoteMissing(k.GVK, p.observed.ObserveControllable(ctx, k)); err != nil {
			if kinds.IsGone(err) {
				continue // a kind that isn't installed has no objects to prune
			}
			return err
		}
		if p.inventory.CrossNamespace.Has(k.GVK.GroupKind()) {
			if err := p.observed.ObserveCrossNamespace(ctx, k); err != nil {
				return err
			}
		}
		prunable[k.GVK.GroupKind()] = true
	}
	stale := p.cluster.DesiredKeys.Stale(p.existing(prunable))
	slices.SortFunc(stale, store.Compare) // equal passes write in the same order
	if p.undo != nil {
		if err := p.keepDeleted(ctx, p.observed.Of(stale)); err != nil {
			return err
		}
	}
	if err := p.deleteAll(ctx, stale); err != nil || !p.pruneAll {
		return err
	}
	return p.pruneLeftovers(ctx)
}

// existing returns the keys of the owner's children of some kinds, except terminating ones.
func (p *pass) existing(kinds map[schema.GroupKind]bool) iter.Seq[store.Key] {
	return func(yield func(store.Key) bool) {
		for key, obj := range p.observed.ByKey {
			if kinds[key.GroupKind()] && obj.GetDeletionTimestamp() == nil && !p.isRecord(obj) && !yield(key) {
				return
			}
		}
	}
}

// kindsToPrune returns the named kinds, and with pruneAll those of the desired children.
func (p *pass) kindsToPrune(objs []client.Object) ([]kinds.Kind, error) {
	var named []kinds.Kind
	for _, obj := range objs {
		k, err := p.engine.kinds.Of(obj)
		if err != nil {
			return nil, err
		}
		named = append(named, k)
	}
	if p.pruneAll {
		for _, gk := range inventory.SortedKinds(p.kinds.owned.Union(p.kinds.crossNamespace)) {
			named = append(named, p.kinds.byGroupKind[gk])
		}
	}
	return named, nil
}

// deleteGiven deletes the children that a plan lists. If one of them isn't the owner's, it deletes none.
func (p *pass) deleteGiven(ctx context.Context, objs []client.Object) error {
	var keys []store.Key
	for _, obj := range objs {
		k, err := p.engine.kinds.Of(obj)
		if err != nil {
			return err
		}
		key := k.Key(obj)
		if !p.observed.Owns(obj) {
			return failure.NotOwned("delete", key, obj)
		}
		if obj.GetUID() == "" || obj.GetResourceVersion() == "" {
			return fmt.Errorf("%w: %s to be deleted has no UID or resource version; take it from the view", ErrMisuse, key)
		}
		if obj.GetDeletionTimestamp() == nil {
			p.observed.ByKey[key] = obj
			keys = append(keys, key)
		}
	}
	return p.deleteAll(ctx, keys)
}

// deleteAll deletes observed children.
func (p *pass) deleteAll(ctx context.Context, keys []store.Key) error {
	if len(keys) == 0 {
		return nil
	}
	done := make([]bool, len(keys))
	var failing batch.Kinds
	err := batch.Each(len(keys), p.engine.parallelism, func(i int) error {
		return failing.Try(keys[i], func() (err error) {
			done[i], err = p.engine.delete(ctx, keys[i], p.observed.ByKey[keys[i]])
			return err
		})
	})
	for i, key := range keys {
		if done[i] {
			k, kindErr := p.engine.kinds.Of(p.observed.ByKey[key])
			err = errors.Join(err, kindErr)
			p.changed(events.ReasonDeleted, k, key, p.observed.ByKey[key])
			delete(p.observed.ByKey, key)
		}
	}
	return err
}

// delete deletes an object, only with its observed UID and version. It returns false if the object doesn't exist.
func (e *Engine) delete(ctx context.Context, key store.Key, observed client.Object) (bool, error) {
	obj := observed.DeepCopyObject().(client.Object) // the client may write to it
	opts := []client.DeleteOption{
		client.Preconditions{UID: new(obj.GetUID()), ResourceVersion: new(obj.GetResourceVersion())},
		propagation(obj),
	}
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok { // a delete through the cached client would start an informer
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	err := e.client.Delete(ctx, obj, opts...)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, &Error{Key: key, Operation: "delete", cause: err, object: observed}
	}
	return true, nil
}

// propagation returns how the API server deletes an object's dependents: in the background, so that it deletes the object at once, or
// in the foreground, if the object has that finalizer already. Such an object stays until its dependents are gone, and the API server
// can't delete it in the background with a resource version: it compares the version with none (observed in 1.37).
func propagation(obj client.Object) client.PropagationPolicy {
	if slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		return client.PropagationPolicy(metav1.DeletePropagationForeground)
	}
	return client.PropagationPolicy(metav1.DeletePropagationBackground)
}
