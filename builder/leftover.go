package builder

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// pruneLeftovers deletes children of kinds that are on record and of which nothing is wanted any more, also kinds that
// this program doesn't know, and takes the kinds off the record. Each is looked at once, past the cache, which may not
// show what an earlier process made. A crash in between leaves the kind on record, to be looked at again.
func (p *pass) pruneLeftovers(ctx context.Context) error {
	kinds, elsewhere := p.inventory.kinds.Clone(), p.inventory.elsewhere.Clone()
	for _, gk := range sorted(kinds.Difference(p.wantedKinds)) {
		if err := p.pruneLeftover(ctx, gk); err != nil {
			return err
		}
		kinds.Delete(gk)
	}
	for _, gk := range sorted(elsewhere.Difference(p.wantedElsewhere)) {
		left, err := p.deleteElsewhere(ctx, gk)
		if err != nil {
			return err
		}
		if !left {
			elsewhere.Delete(gk)
		}
	}
	if kinds.Equal(p.inventory.kinds) && elsewhere.Equal(p.inventory.elsewhere) {
		return nil
	}
	return p.writeInventory(ctx, kinds, elsewhere)
}

// pruneLeftover deletes what the owner controls of a kind.
func (p *pass) pruneLeftover(ctx context.Context, gk schema.GroupKind) error {
	found, err := p.engine.listMetadata(ctx, gk, client.InNamespace(p.owner.GetNamespace()))
	if err != nil {
		return fmt.Errorf("prune %s, which is in the inventory of %s: %w", gk, p.ownerKey, err)
	}
	var stale []store.Key
	for i := range found {
		obj := &found[i]
		if metav1.IsControlledBy(obj, p.owner) && obj.GetDeletionTimestamp() == nil {
			key := store.KeyOf(obj.GroupVersionKind(), obj.Namespace, obj.Name)
			p.seen[key] = obj
			stale = append(stale, key)
		}
	}
	return p.deleteAll(ctx, stale)
}

// listMetadata lists objects of a kind, past the cache, without their content. Of a kind that the cluster doesn't know
// (any more) there are none.
func (e *Engine) listMetadata(ctx context.Context, gk schema.GroupKind, opts ...client.ListOption) ([]metav1.PartialObjectMetadata, error) {
	mapping, err := e.client.RESTMapper().RESTMapping(gk)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(gk.Kind + "List"))
	if err := e.live.List(ctx, list, opts...); err != nil {
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) { // its definition went since the mapper last looked
			return nil, nil
		}
		return nil, err
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(mapping.GroupVersionKind)
	}
	return list.Items, nil
}
