package builder

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/phases"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
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

// desiredKinds are the kinds of the desired children that the inventory records.
type desiredKinds struct {
	owned          inventory.Kinds // of children that the owner controls
	crossNamespace inventory.Kinds
	byGroupKind    map[schema.GroupKind]kinds.Kind // of both
}

// kindsOf returns the kinds of all children, or only of cross-namespace ones. It ignores a child without a kind: applying it returns
// the error.
func (e *Engine) kindsOf(children []Child, all bool) (desired desiredKinds) {
	var last kinds.Kind
	for _, child := range children {
		if !all && !child.desired.CrossNamespace {
			continue
		}
		k, err := e.kinds.Of(child.desired.Object)
		if err != nil || (k == last && !child.desired.CrossNamespace) {
			continue
		}
		if desired.byGroupKind == nil {
			desired = desiredKinds{inventory.Kinds{}, inventory.Kinds{}, map[schema.GroupKind]kinds.Kind{}}
		}
		if child.desired.CrossNamespace {
			desired.crossNamespace.Insert(k.GVK.GroupKind())
		} else {
			desired.owned.Insert(k.GVK.GroupKind())
			last = k
		}
		desired.byGroupKind[k.GVK.GroupKind()] = k
	}
	return desired
}

// recordKinds records the kinds of the desired children on the owner, before the pass creates the first child of a kind. After a crash
// in between, the inventory has a kind without children. Without PruneAll and cross-namespace children there is none to record.
func (p *pass) recordKinds(ctx context.Context, children []Child) error {
	p.kinds = p.engine.kindsOf(children, p.pruneAll)
	if p.inventory.Covers(p.kinds.owned, p.kinds.crossNamespace) {
		return nil
	}
	return p.writeInventory(ctx, p.inventory.Kinds.Union(p.kinds.owned), p.inventory.CrossNamespace.Union(p.kinds.crossNamespace))
}

// writeInventory changes the inventory on the owner, in one patch.
func (p *pass) writeInventory(ctx context.Context, kinds, crossNamespace inventory.Kinds) error {
	next, patch, err := p.inventory.Change(kinds, crossNamespace)
	if err != nil {
		return fmt.Errorf("inventory of %s: %w", p.ownerKey, err)
	}
	if p.engine.dry {
		p.inventory = next
		return nil
	}
	return p.patchInventory(ctx, next, patch, "write the inventory of")
}

// patchInventory writes a changed inventory.
func (p *pass) patchInventory(ctx context.Context, next inventory.Inventory, patch []byte, operation string) error {
	k, err := p.engine.kinds.Of(p.owner)
	if err != nil {
		return err
	}
	obj, err := p.engine.kinds.Empty(k)
	if err != nil {
		return err
	}
	obj.SetNamespace(p.ownerKey.Namespace)
	obj.SetName(p.ownerKey.Name)
	err = p.engine.client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(p.engine.name))
	if err != nil {
		return &Error{Key: p.ownerKey, Operation: operation, cause: err, object: p.owner}
	}
	next.ResourceVersion = obj.GetResourceVersion()
	p.inventory = next
	p.engine.memory.Inventories.Add(p.owner.GetUID(), memory.Inventory{From: p.owner.GetResourceVersion(), Inventory: next})
	return nil
}

// inventoryOf returns the inventory of an owner, including the engine's own writes since the owner was read. The next write uses the
// resource version of the last one, so that the engine's own write causes no conflict; another writer's change does.
func (e *Engine) inventoryOf(owner client.Object) inventory.Inventory {
	if known, ok := e.memory.Inventories.Get(owner.GetUID()); ok && known.From == owner.GetResourceVersion() {
		return known.Inventory
	}
	return inventory.Of(owner)
}

// pruneLeftovers deletes children of recorded kinds of which nothing is desired any more, including kinds that this program doesn't
// know, and removes the kinds from the inventory. It lists each kind once, past the cache, because the cache may not show objects of
// an earlier process. After a crash in between, the inventory still has the kind, and the next pass lists it again.
func (p *pass) pruneLeftovers(ctx context.Context) error {
	kinds, crossNamespace := p.inventory.Kinds.Clone(), p.inventory.CrossNamespace.Clone()
	for _, gk := range inventory.SortedKinds(kinds.Difference(p.kinds.owned).Difference(p.restored)) {
		if err := p.pruneLeftover(ctx, gk); err != nil {
			return err
		}
		kinds.Delete(gk)
	}
	for _, gk := range inventory.SortedKinds(crossNamespace.Difference(p.kinds.crossNamespace)) {
		left, err := p.deleteCrossNamespace(ctx, gk)
		if err != nil {
			return err
		}
		if !left {
			crossNamespace.Delete(gk)
		}
	}
	if kinds.Equal(p.inventory.Kinds) && crossNamespace.Equal(p.inventory.CrossNamespace) {
		return nil
	}
	return p.writeInventory(ctx, kinds, crossNamespace)
}

// pruneLeftover deletes the owner's children of a kind.
func (p *pass) pruneLeftover(ctx context.Context, gk schema.GroupKind) error {
	found, err := p.listLeftovers(ctx, gk)
	if err != nil {
		return fmt.Errorf("prune %s, which is in the inventory of %s: %w", gk, p.ownerKey, err)
	}
	var stale []store.Key
	var whole []client.Object // those of which the pass has more than the metadata
	for i := range found {
		obj := &found[i]
		if metav1.IsControlledBy(obj, p.owner) && obj.GetDeletionTimestamp() == nil {
			key := store.KeyOf(obj.GroupVersionKind(), obj.Namespace, obj.Name)
			if known := p.observed.ByKey[key]; known != nil {
				whole = append(whole, known)
			}
			p.observed.ByKey[key] = obj
			stale = append(stale, key)
		}
	}
	if p.undo != nil {
		if err := p.keepDeleted(ctx, whole); err != nil {
			return err
		}
	}
	return p.deleteAll(ctx, stale)
}

// listLeftovers lists the metadata of a kind's objects in the owner's namespace, past the cache, without the builder's own records. The
// data of a ControllerRevision says whether it is one.
func (p *pass) listLeftovers(ctx context.Context, gk schema.GroupKind) ([]metav1.PartialObjectMetadata, error) {
	if gk != controllerRevisions.GVK.GroupKind() {
		return p.engine.listMetadata(ctx, gk, client.InNamespace(p.owner.GetNamespace()))
	}
	list := &appsv1.ControllerRevisionList{}
	if err := p.engine.live.List(ctx, list, client.InNamespace(p.owner.GetNamespace())); err != nil {
		return nil, err
	}
	var found []metav1.PartialObjectMetadata
	for i := range list.Items {
		if object := &list.Items[i]; !p.isRecord(object) {
			obj := metav1.PartialObjectMetadata{ObjectMeta: object.ObjectMeta}
			obj.SetGroupVersionKind(controllerRevisions.GVK)
			found = append(found, obj)
		}
	}
	return found, nil
}

// isRecord reports whether an object is a record of the builder's own, which no plan desires and which pruning leaves: a former state, a
// revision of a roll-out, or the runs of a RunOnce child.
func (p *pass) isRecord(obj client.Object) bool {
	r, ok := obj.(*appsv1.ControllerRevision)
	return ok && (former.IsRecord(r) || phases.IsOwn(r, p.engine.name))
}

// listMetadata lists the metadata of a kind's objects, past the cache. It returns none for a kind that the cluster doesn't know.
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
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) { // the mapper may still know a deleted definition
			return nil, nil
		}
		return nil, err
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(mapping.GroupVersionKind)
	}
	return list.Items, nil
}

// finalize deletes the cross-namespace children of a terminating owner, and removes the finalizer when none are left. It reads from
// the API server, because the cache may not show recent objects yet. Besides the recorded kinds it reads all kinds that this program
// knows to have such children, because someone may have edited the record.
func (p *pass) finalize(ctx context.Context, children []Child) error {
	p.kinds = p.engine.kindsOf(children, p.pruneAll)
	known := p.inventory.CrossNamespace.Union(p.kinds.crossNamespace).Union(p.engine.crossNamespace.Kinds())
	anyLeft := false
	for _, gk := range inventory.SortedKinds(known) {
		left, err := p.deleteCrossNamespace(ctx, gk)
		if err != nil {
			return err
		}
		anyLeft = anyLeft || left
	}
	if anyLeft {
		return nil
	}
	return client.IgnoreNotFound(p.writeInventory(ctx, p.inventory.Kinds, nil))
}

// deleteCrossNamespace deletes the owner's cross-namespace children of one kind, and reports whether any are left. The pass waits for
// those.
func (p *pass) deleteCrossNamespace(ctx context.Context, gk schema.GroupKind) (left bool, err error) {
	for deleted := false; ; deleted = true {
		found, err := p.engine.listMetadata(ctx, gk, client.MatchingLabels{wellknown.LabelOwnerUID: string(p.owner.GetUID())})
		if err != nil {
			return true, fmt.Errorf("delete %s in other namespaces, which is in the inventory of %s: %w", gk, p.ownerKey, err)
		}
		var present, stale []store.Key
		for i := range found {
			obj := &found[i]
			if !p.observed.IsCrossNamespace(obj) {
				continue
			}
			key := store.KeyOf(obj.GroupVersionKind(), obj.Namespace, obj.Name)
			present = append(present, key)
			if obj.GetDeletionTimestamp() == nil {
				p.observed.ByKey[key] = obj
				stale = append(stale, key)
			}
		}
		if deleted || len(stale) == 0 {
			for _, key := range present {
				p.awaitDeletion(key)
			}
			return len(present) > 0, nil
		}
		if err := p.deleteAll(ctx, stale); err != nil {
			return true, err
		}
	}
}

// deleteOwner deletes an owner in its observed version, or in the version that the pass itself has written. written is the server's
// result of the pass's last status write, nil if the pass didn't write the status.
func (e *Engine) deleteOwner(ctx context.Context, owner, written client.Object) error {
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	k, err := e.kinds.Of(owner)
	if err != nil {
		return err
	}
	present := owner.DeepCopyObject().(client.Object)
	present.SetResourceVersion(e.inventoryOf(owner).ResourceVersion)
	if written != nil {
		present.SetResourceVersion(written.GetResourceVersion())
	}
	_, err = e.delete(ctx, k.Key(owner), present)
	e.emitResult(owner, "delete the owner", Result{}, err)
	return err
}
