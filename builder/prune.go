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
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// prune deletes the owner's children of these kinds that aren't desired. It must not be called after an error in the
// pass: not all desired children would be known.
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
		if err := p.engine.kinds.NoteMissing(k.GVK, p.observeOwned(ctx, k)); err != nil {
			if kinds.IsGone(err) {
				continue // of a kind that isn't installed there is nothing to prune
			}
			return err
		}
		if p.inventory.CrossNamespace.Has(k.GVK.GroupKind()) {
			if err := p.observeCrossNamespace(ctx, k); err != nil {
				return err
			}
		}
		prunable[k.GVK.GroupKind()] = true
	}
	if err := p.deleteAll(ctx, p.desired.Stale(p.existing(prunable))); err != nil || !p.pruneAll {
		return err
	}
	return p.pruneLeftovers(ctx)
}

// existing are the keys of the owner's children of some kinds, as far as they aren't being deleted.
func (p *pass) existing(kinds map[schema.GroupKind]bool) iter.Seq[store.Key] {
	return func(yield func(store.Key) bool) {
		for key, obj := range p.observed {
			if kinds[key.GroupKind()] && obj.GetDeletionTimestamp() == nil && !yield(key) {
				return
			}
		}
	}
}

// observeOwned reads the owner's children of a kind that it controls, if it can control any.
func (p *pass) observeOwned(ctx context.Context, k kinds.Kind) error {
	like, err := p.engine.kinds.Empty(k)
	if err != nil {
		return err
	}
	if namespaced, err := p.engine.kinds.IsNamespaced(k, like); err != nil || (!namespaced && p.owner.GetNamespace() != "") {
		return err
	}
	return p.observe(ctx, k)
}

// kindsToPrune returns the kinds that are named, and those of the desired children if all are to be pruned.
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

// deleteGiven deletes children that a plan names. Nothing is deleted if one of them isn't the owner's.
func (p *pass) deleteGiven(ctx context.Context, objs []client.Object) error {
	var keys []store.Key
	for _, obj := range objs {
		k, err := p.engine.kinds.Of(obj)
		if err != nil {
			return err
		}
		key := k.Key(obj)
		if !p.owns(obj) {
			return notOwned("delete", key, obj)
		}
		if obj.GetUID() == "" || obj.GetResourceVersion() == "" {
			return fmt.Errorf("%w: %s to be deleted has no UID or resource version; take it from the view", ErrMisuse, key)
		}
		if obj.GetDeletionTimestamp() == nil {
			p.observed[key] = obj
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
			done[i], err = p.engine.delete(ctx, keys[i], p.observed[keys[i]])
			return err
		})
	})
	for i, key := range keys {
		if done[i] {
			k, kindErr := p.engine.kinds.Of(p.observed[key])
			err = errors.Join(err, kindErr)
			p.changed(events.ReasonDeleted, k, key, p.observed[key])
			delete(p.observed, key)
		}
	}
	return err
}

// delete removes an object, but only this very one in its observed version. It reports false if there was none.
func (e *Engine) delete(ctx context.Context, key store.Key, seen client.Object) (bool, error) {
	obj := seen.DeepCopyObject().(client.Object) // the client may write to it
	opts := []client.DeleteOption{
		client.Preconditions{UID: ptr.To(obj.GetUID()), ResourceVersion: ptr.To(obj.GetResourceVersion())},
		propagation(obj),
	}
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok { // there is no cache of these, and none shall be started
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	err := e.client.Delete(ctx, obj, opts...)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, &Error{Key: key, Operation: "delete", Err: err, object: seen}
	}
	return true, nil
}

// propagation is how an object is deleted together with what it owns: in the background, so that it is deleted at once; or
// in the foreground, if it has that finalizer already. Such an object was made to stay until what it owns is gone, and
// the API server can't delete it otherwise by its resource version: it compares the version with none (seen in 1.37).
func propagation(obj client.Object) client.PropagationPolicy {
	if slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		return client.PropagationPolicy(metav1.DeletePropagationForeground)
	}
	return client.PropagationPolicy(metav1.DeletePropagationBackground)
}
