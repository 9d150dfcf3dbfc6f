package prune

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/memory"
)

// Record records the kinds of the desired children on the owner, before the pass creates the first child of a kind. After a crash in
// between, the inventory has a kind without children. Without PruneAll and cross-namespace children there is none to record.
func (p *Pruner) Record(ctx context.Context) error {
	if p.Inventory.Covers(p.Desired.Owned, p.Desired.CrossNamespace) {
		return nil
	}
	return p.WriteKinds(ctx, p.Inventory.Kinds.Union(p.Desired.Owned), p.Inventory.CrossNamespace.Union(p.Desired.CrossNamespace))
}

// WriteKinds changes the inventory on the owner, in one patch.
func (p *Pruner) WriteKinds(ctx context.Context, kinds, crossNamespace inventory.Kinds) error {
	next, patch, err := p.Inventory.Change(kinds, crossNamespace)
	if err != nil {
		return fmt.Errorf("inventory of %s: %w", p.OwnerKey, err)
	}
	if p.DryRun {
		p.Inventory = next
		return nil
	}
	return p.patch(ctx, next, patch, "write the inventory of")
}

// WriteFinalizers changes the finalizers of the owner as they were read.
func (p *Pruner) WriteFinalizers(ctx context.Context, finalizers []string) error {
	next, patch, err := p.Inventory.WithFinalizers(finalizers)
	if err != nil {
		return err
	}
	return p.patch(ctx, next, patch, "write the finalizers of")
}

// patch writes a changed inventory.
func (p *Pruner) patch(ctx context.Context, next inventory.Inventory, patch []byte, operation string) error {
	k, err := p.Kinds.Of(p.Owner)
	if err != nil {
		return err
	}
	obj, err := p.Kinds.Named(k, p.OwnerKey)
	if err != nil {
		return err
	}
	err = p.Client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(p.Name))
	if err != nil {
		return &failure.Error{Key: p.OwnerKey, Operation: operation, Err: err, Object: p.Owner}
	}
	next.ResourceVersion = obj.GetResourceVersion()
	p.Inventory = next
	p.Memory.Inventories.Add(p.Owner.GetUID(), memory.Inventory{From: p.Owner.GetResourceVersion(), Inventory: next})
	return nil
}
