package builder

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// What the builder writes on owners.
const (
	// AnnotationGroupKinds lists the kinds of which an owner has children, for PruneAll: "ConfigMap,Deployment.apps".
	AnnotationGroupKinds = "armature.dev/contains-group-kinds"
	// AnnotationGroupKindsElsewhere lists the kinds of which an owner has children Elsewhere.
	AnnotationGroupKindsElsewhere = "armature.dev/contains-group-kinds-elsewhere"
	// Finalizer keeps an owner until its children Elsewhere are gone.
	Finalizer = "armature.dev/cleanup"
)

// groupKinds is a set of kinds.
type groupKinds = sets.Set[schema.GroupKind]

// inventory is what is kept with an owner of the kinds that it has children of. It is what lets a later version of the
// program find children of kinds that it knows nothing of.
type inventory struct {
	kinds     groupKinds // of children that the owner controls
	elsewhere groupKinds // of children elsewhere

	resourceVersion string   // of the owner
	finalizers      []string // on the owner
}

// isGuarded reports whether the owner can't go before its children elsewhere.
func (i inventory) isGuarded() bool { return slices.Contains(i.finalizers, Finalizer) }

// parseGroupKinds reads what format wrote, and leaves out what no one should have written.
func parseGroupKinds(text string) groupKinds {
	if text == "" {
		return nil
	}
	known := groupKinds{}
	for name := range strings.SplitSeq(text, ",") {
		if gk := schema.ParseGroupKind(strings.TrimSpace(name)); gk.Kind != "" {
			known.Insert(gk)
		}
	}
	return known
}

// formatGroupKinds writes kinds as ApplySets do: "ConfigMap,Deployment.apps".
func formatGroupKinds(kinds groupKinds) string {
	var names []string
	for gk := range kinds {
		names = append(names, gk.String())
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// sorted returns kinds in an order that is always the same.
func sorted(kinds groupKinds) []schema.GroupKind {
	return slices.SortedFunc(func(yield func(schema.GroupKind) bool) {
		for gk := range kinds {
			if !yield(gk) {
				return
			}
		}
	}, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
}

// noteKinds notes of what kinds the wanted children are. What is of no kind is reported when it is applied.
func (p *pass) noteKinds(wants []Child) {
	var last kind
	for _, want := range wants {
		if !p.pruneAll && !want.elsewhere {
			continue
		}
		k, err := p.engine.kinds.of(want.object)
		if err != nil || (k == last && !want.elsewhere) {
			continue
		}
		if p.kindOf == nil {
			p.kindOf, p.wantedKinds, p.wantedElsewhere = map[schema.GroupKind]kind{}, groupKinds{}, groupKinds{}
		}
		if want.elsewhere {
			p.wantedElsewhere.Insert(k.gvk.GroupKind())
		} else {
			p.wantedKinds.Insert(k.gvk.GroupKind())
			last = k
		}
		p.kindOf[k.gvk.GroupKind()] = k
	}
}

// usesInventory reports whether the kinds of the owner's children have to be on record.
func (p *pass) usesInventory() bool {
	return p.pruneAll || slices.ContainsFunc(p.children, func(c Child) bool { return c.elsewhere })
}

// recordKinds keeps with the owner of what kinds it is about to have children, before the first of a kind is created.
// A crash in between leaves a kind on record of which there are none.
func (p *pass) recordKinds(ctx context.Context, wants []Child) error {
	p.noteKinds(wants)
	if p.inventory.kinds.IsSuperset(p.wantedKinds) && p.inventory.elsewhere.IsSuperset(p.wantedElsewhere) &&
		(len(p.wantedElsewhere) == 0 || p.inventory.isGuarded()) {
		return nil
	}
	return p.writeInventory(ctx, p.inventory.kinds.Union(p.wantedKinds), p.inventory.elsewhere.Union(p.wantedElsewhere))
}

// writeInventory writes onto the owner what it contains, in one patch. The finalizer is there as long as there is
// something elsewhere. With the resource version in it the patch can't undo what another one wrote.
func (p *pass) writeInventory(ctx context.Context, kinds, elsewhere groupKinds) error {
	finalizers := slices.DeleteFunc(slices.Clone(p.inventory.finalizers), func(f string) bool { return f == Finalizer })
	if len(elsewhere) > 0 {
		finalizers = append(finalizers, Finalizer)
	}
	meta := map[string]any{
		"resourceVersion": p.inventory.resourceVersion,
		"annotations": map[string]any{
			AnnotationGroupKinds:          annotationOrNull(kinds),
			AnnotationGroupKindsElsewhere: annotationOrNull(elsewhere),
		},
	}
	if len(elsewhere) > 0 != p.inventory.isGuarded() {
		meta["finalizers"] = finalizers
	}
	next := inventory{kinds: kinds, elsewhere: elsewhere, resourceVersion: p.inventory.resourceVersion, finalizers: finalizers}
	if p.engine.dry {
		p.inventory = next
		return nil
	}
	body, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		return fmt.Errorf("inventory of %s: %w", p.ownerKey, err)
	}
	k, err := p.engine.kinds.of(p.owner)
	if err != nil {
		return err
	}
	obj, err := p.engine.kinds.empty(k)
	if err != nil {
		return err
	}
	obj.SetNamespace(p.ownerKey.Namespace)
	obj.SetName(p.ownerKey.Name)
	err = p.engine.client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, body), client.FieldOwner(p.engine.name))
	if err != nil {
		return &Error{Key: p.ownerKey, Operation: "write the inventory of", Err: err, object: p.owner}
	}
	next.resourceVersion = obj.GetResourceVersion()
	p.inventory = next
	p.engine.memory.inventories.Add(p.owner.GetUID(), renewal{p.owner.GetResourceVersion(), next})
	return nil
}

func annotationOrNull(kinds groupKinds) any {
	if len(kinds) == 0 {
		return nil
	}
	return formatGroupKinds(kinds)
}

// renewal is what our own writes alone made of an owner's inventory, since the owner was read at a resource version.
type renewal struct {
	from string
	inventory
}

// inventoryOf returns the inventory of an owner after what we wrote onto it since it was read: what is written next, and
// refused if someone else changed the owner, shall not be refused for that.
func (e *Engine) inventoryOf(owner client.Object) inventory {
	if known, ok := e.memory.inventories.Get(owner.GetUID()); ok && known.from == owner.GetResourceVersion() {
		return known.inventory
	}
	annotations := owner.GetAnnotations()
	return inventory{
		kinds:           parseGroupKinds(annotations[AnnotationGroupKinds]),
		elsewhere:       parseGroupKinds(annotations[AnnotationGroupKindsElsewhere]),
		resourceVersion: owner.GetResourceVersion(),
		finalizers:      owner.GetFinalizers(),
	}
}

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
