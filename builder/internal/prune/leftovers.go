package prune

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/marks"
	"github.com/armature-dev/armature/builder/internal/phases"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

var controllerRevisions = appsv1.SchemeGroupVersion.WithKind("ControllerRevision")

// pruneLeftovers deletes children of recorded kinds of which nothing is desired any more, including kinds that this program doesn't
// know, and removes the kinds from the inventory. It lists each kind once, past the cache, because the cache may not show objects of
// an earlier process. After a crash in between, the inventory still has the kind, and the next pass lists it again.
func (p *Pruner) pruneLeftovers(ctx context.Context, out *Outcome) error {
	kinds, crossNamespace := p.Inventory.Kinds.Clone(), p.Inventory.CrossNamespace.Clone()
	for _, gk := range inventory.SortedKinds(kinds.Difference(p.Desired.Owned).Difference(p.Restored)) {
		if err := p.pruneLeftover(ctx, out, gk); err != nil {
			return err
		}
		kinds.Delete(gk)
	}
	for _, gk := range inventory.SortedKinds(crossNamespace.Difference(p.Desired.CrossNamespace)) {
		left, err := p.deleteCrossNamespace(ctx, out, gk)
		if err != nil {
			return err
		}
		if !left {
			crossNamespace.Delete(gk)
		}
	}
	if kinds.Equal(p.Inventory.Kinds) && crossNamespace.Equal(p.Inventory.CrossNamespace) {
		return nil
	}
	return p.WriteKinds(ctx, kinds, crossNamespace)
}

// pruneLeftover deletes the owner's children of a kind.
func (p *Pruner) pruneLeftover(ctx context.Context, out *Outcome, gk schema.GroupKind) error {
	found, err := p.listLeftovers(ctx, gk)
	if err != nil {
		return fmt.Errorf("prune %s, which is in the inventory of %s: %w", gk, p.OwnerKey, err)
	}
	var stale []store.Key
	var whole []client.Object // those of which the pass has more than the metadata
	for i := range found {
		obj := &found[i]
		if metav1.IsControlledBy(obj, p.Owner) && obj.GetDeletionTimestamp() == nil {
			key := store.KeyOf(obj.GroupVersionKind(), obj.Namespace, obj.Name)
			if known := p.Children.ByKey[key]; known != nil {
				whole = append(whole, known)
			}
			p.Children.ByKey[key] = obj
			stale = append(stale, key)
		}
	}
	if err := p.keepFormer(ctx, whole); err != nil {
		return err
	}
	return p.deleteAll(ctx, out, stale)
}

// listLeftovers lists the metadata of a kind's objects in the owner's namespace, past the cache, without the builder's own records. The
// data of a ControllerRevision says whether it is one.
func (p *Pruner) listLeftovers(ctx context.Context, gk schema.GroupKind) ([]metav1.PartialObjectMetadata, error) {
	if gk != controllerRevisions.GroupKind() {
		return ListMetadata(ctx, p.Client, p.Live, gk, client.InNamespace(p.Owner.GetNamespace()))
	}
	list := &appsv1.ControllerRevisionList{}
	if err := p.Live.List(ctx, list, client.InNamespace(p.Owner.GetNamespace())); err != nil {
		return nil, err
	}
	var found []metav1.PartialObjectMetadata
	for i := range list.Items {
		if object := &list.Items[i]; !p.isRecord(object) {
			obj := metav1.PartialObjectMetadata{ObjectMeta: object.ObjectMeta}
			obj.SetGroupVersionKind(controllerRevisions)
			found = append(found, obj)
		}
	}
	return found, nil
}

// isRecord reports whether an object is a record of the builder's own, which no plan desires and which pruning leaves: a former state, a
// revision of a roll-out, or the runs of a RunOnce child.
func (p *Pruner) isRecord(obj client.Object) bool {
	r, ok := obj.(*appsv1.ControllerRevision)
	return ok && (former.IsRecord(r) || phases.IsOwn(r, p.Name))
}

// ListMetadata lists the metadata of a kind's objects, past the cache. It returns none for a kind that the cluster doesn't know.
func ListMetadata(
	ctx context.Context, c client.Client, live client.Reader, gk schema.GroupKind, opts ...client.ListOption,
) ([]metav1.PartialObjectMetadata, error) {
	mapping, err := c.RESTMapper().RESTMapping(gk)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(gk.Kind + "List"))
	if err := live.List(ctx, list, opts...); err != nil {
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

// Finalize deletes the cross-namespace children of a terminating owner, and removes the finalizer when none are left. It reads from
// the API server, because the cache may not show recent objects yet. Besides the recorded kinds it reads all kinds that this program
// knows to have such children, because someone may have edited the record.
func (p *Pruner) Finalize(ctx context.Context) (out Outcome, err error) {
	known := p.Inventory.CrossNamespace.Union(p.Desired.CrossNamespace).Union(p.Children.CrossNamespace.Kinds())
	anyLeft := false
	var errs []error
	for _, gk := range inventory.SortedKinds(known) {
		left, err := p.deleteCrossNamespace(ctx, &out, gk)
		if err != nil {
			errs = append(errs, err)
		}
		anyLeft = anyLeft || left
	}
	if anyLeft {
		out.Copies = nil // told once, in the pass that lets the owner go
		return out, errors.Join(errs...)
	}
	return out, client.IgnoreNotFound(p.WriteKinds(ctx, p.Inventory.Kinds, nil))
}

// deleteCrossNamespace deletes the owner's cross-namespace children of one kind, and reports whether any are left. The pass waits for
// those. An object that only has their marks stays. It is an error if the manager that has marked it has guarded the owner, too: then it
// is probably a child from before this operator got another name. Anyone else's mark may be a copy, and must not keep the owner of others.
func (p *Pruner) deleteCrossNamespace(ctx context.Context, out *Outcome, gk schema.GroupKind) (left bool, err error) {
	for deleted := false; ; deleted = true {
		found, err := ListMetadata(ctx, p.Client, p.Live, gk, client.MatchingLabels{wellknown.LabelOwnerUID: string(p.Owner.GetUID())})
		if err != nil {
			return true, fmt.Errorf("delete %s in other namespaces, which is in the inventory of %s: %w", gk, p.OwnerKey, err)
		}
		var present, stale []store.Key
		var unproved []client.Object
		for i := range found {
			obj := &found[i]
			if !p.Children.IsCrossNamespace(obj, p.Desired.Former) {
				if p.Children.Marks.IsMarked(obj) && obj.GetDeletionTimestamp() == nil {
					unproved = append(unproved, obj)
				}
				continue
			}
			key := store.KeyOf(obj.GroupVersionKind(), obj.Namespace, obj.Name)
			present = append(present, key)
			if obj.GetDeletionTimestamp() == nil {
				p.Children.ByKey[key] = obj
				stale = append(stale, key)
			}
		}
		if deleted || len(stale) == 0 {
			out.Waiting = append(out.Waiting, present...)
			err := p.refuseUnproved(ctx, out, unproved)
			return err != nil || len(present) > 0, err
		}
		if err := p.deleteAll(ctx, out, stale); err != nil {
			return true, err
		}
	}
}

// refuseUnproved returns an error about the first object that a manager has marked who has guarded the owner, too. Others are copies.
func (p *Pruner) refuseUnproved(ctx context.Context, out *Outcome, unproved []client.Object) error {
	if len(unproved) == 0 {
		return nil
	}
	k, err := p.Kinds.Of(p.Owner)
	if err != nil {
		return err
	}
	owner, err := p.ReadLive(ctx, k, p.OwnerKey) // the cache may lack managed fields
	if err != nil || owner == nil {
		return err
	}
	guards := marks.GuardedBy(owner)
	for _, obj := range unproved {
		if manager := marks.MarkedBy(obj, guards); manager != "" {
			key := store.KeyOf(obj.GetObjectKind().GroupVersionKind(), obj.GetNamespace(), obj.GetName())
			return failure.MarkedBefore("delete", key, obj, manager, p.Name,
				", or delete it or its label "+wellknown.LabelOwnerUID)
		}
	}
	out.Copies = append(out.Copies, unproved...)
	return nil
}
