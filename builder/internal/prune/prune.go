package prune

import (
	"context"
	"errors"
	"iter"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// Pruner deletes the children of one owner that aren't desired, in one pass, and keeps the record of their kinds.
type Pruner struct {
	*apply.Cluster // a deleted child is removed from its Children
	// KeepFormer keeps the former state of children before their deletion. Nil: none is kept.
	KeepFormer func(ctx context.Context, stale []client.Object) error

	// Inventory has the kinds as they are recorded on the owner.
	Inventory inventory.Inventory
	// Desired are the kinds of the desired children that are recorded, and Restored those of children that a rollback desires instead.
	Desired  Kinds
	Restored inventory.Kinds
}

// Kinds are kinds of children.
type Kinds struct {
	Owned          inventory.Kinds // of children that the owner controls
	CrossNamespace inventory.Kinds
	ByGroupKind    map[schema.GroupKind]kinds.Kind // of both
	Former         []string                        // former field managers of cross-namespace children
}

// Outcome is what was deleted, and the children for whose deletion the pass waits. It is valid beside an error.
type Outcome struct {
	Deleted []Deleted
	Waiting []store.Key
	// Copies are objects with the marks of the owner's cross-namespace children, which others have set. They stay.
	Copies []client.Object
}

// Deleted is a deleted child as it was observed.
type Deleted struct {
	Kind   kinds.Kind
	Key    store.Key
	Object client.Object
}

// Prune deletes the owner's children of these kinds that aren't desired; with all also those of the desired and of the recorded kinds.
// Don't call it after an error in the pass, because the pass then may not know all desired children.
func (p *Pruner) Prune(ctx context.Context, objs []client.Object, all bool) (out Outcome, err error) {
	if len(objs) == 0 && !all {
		return out, nil
	}
	prunable := map[schema.GroupKind]bool{}
	named, err := p.kindsToPrune(objs, all)
	if err != nil {
		return out, err
	}
	for _, k := range named {
		if err := p.Kinds.NoteMissing(k.GVK, p.Children.ObserveControllable(ctx, k)); err != nil {
			if kinds.IsGone(err) {
				continue // a kind that isn't installed has no objects to prune
			}
			return out, err
		}
		if p.Inventory.CrossNamespace.Has(k.GVK.GroupKind()) {
			err := p.Children.ObserveCrossNamespace(ctx, k)
			if err == nil {
				err = p.Children.ObserveFormer(ctx, k, p.Desired.Former)
			}
			if err != nil {
				return out, err
			}
		}
		prunable[k.GVK.GroupKind()] = true
	}
	stale := p.DesiredKeys.Stale(p.existing(prunable))
	slices.SortFunc(stale, store.Compare) // equal passes write in the same order
	if err := p.keepFormer(ctx, p.Children.Of(stale)); err != nil {
		return out, err
	}
	if err := p.deleteAll(ctx, &out, stale); err != nil || !all {
		return out, err
	}
	err = p.pruneLeftovers(ctx, &out)
	return out, err
}

// existing returns the keys of the owner's children of some kinds, except terminating ones.
func (p *Pruner) existing(kinds map[schema.GroupKind]bool) iter.Seq[store.Key] {
	return func(yield func(store.Key) bool) {
		for key, obj := range p.Children.ByKey {
			if kinds[key.GroupKind()] && obj.GetDeletionTimestamp() == nil && !p.isRecord(obj) && !yield(key) {
				return
			}
		}
	}
}

func (p *Pruner) keepFormer(ctx context.Context, stale []client.Object) error {
	if p.KeepFormer == nil {
		return nil
	}
	return p.KeepFormer(ctx, stale)
}

// kindsToPrune returns the named kinds, and with all those of the desired children.
func (p *Pruner) kindsToPrune(objs []client.Object, all bool) ([]kinds.Kind, error) {
	var named []kinds.Kind
	for _, obj := range objs {
		k, err := p.Kinds.Of(obj)
		if err != nil {
			return nil, err
		}
		named = append(named, k)
	}
	if all {
		for _, gk := range inventory.SortedKinds(p.Desired.Owned.Union(p.Desired.CrossNamespace)) {
			named = append(named, p.Desired.ByGroupKind[gk])
		}
	}
	return named, nil
}

// DeleteChildren deletes observed children.
func (p *Pruner) DeleteChildren(ctx context.Context, keys []store.Key) (out Outcome, err error) {
	err = p.deleteAll(ctx, &out, keys)
	return out, err
}

func (p *Pruner) deleteAll(ctx context.Context, out *Outcome, keys []store.Key) error {
	if len(keys) == 0 {
		return nil
	}
	done := make([]bool, len(keys))
	var failing batch.Kinds
	err := batch.Each(len(keys), p.Parallelism, func(i int) error {
		return failing.Try(keys[i], func() (err error) {
			done[i], err = DeleteObject(ctx, p.Client, keys[i], p.Children.ByKey[keys[i]])
			return err
		})
	})
	for i, key := range keys {
		if done[i] {
			k, kindErr := p.Kinds.Of(p.Children.ByKey[key])
			err = errors.Join(err, kindErr)
			out.Deleted = append(out.Deleted, Deleted{k, key, p.Children.ByKey[key]})
			delete(p.Children.ByKey, key)
		}
	}
	return err
}

// DeleteObject deletes an object, only with its observed UID and version. It returns false if the object doesn't exist.
func DeleteObject(ctx context.Context, c client.Client, key store.Key, observed client.Object) (bool, error) {
	obj := observed.DeepCopyObject().(client.Object) // the client may write to it
	opts := []client.DeleteOption{
		client.Preconditions{UID: new(obj.GetUID()), ResourceVersion: new(obj.GetResourceVersion())},
		propagation(obj),
	}
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok { // a delete through the cached client would start an informer
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	err := c.Delete(ctx, obj, opts...)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, &failure.Error{Key: key, Operation: "delete", Err: err, Object: observed}
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
