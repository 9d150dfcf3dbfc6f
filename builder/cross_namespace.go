package builder

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// CrossNamespace allows a child beyond the reach of garbage collection: a cluster-scoped child of a namespaced owner, or a child in
// another namespace, which its metadata.namespace names. Default: such a child is [ErrMisuse].
//
// The child has no owner reference. The label armature.dev/owner-uid and the annotations armature.dev/owner-kind and armature.dev/owner
// name its owner. They count only if the object's managed fields show that the engine's field manager has set them, or a manager that
// [Adopt] names as a former one. Any other object of the child's name is [ErrNotOwned], and the builder never prunes it, whatever its
// labels say. The builder adds the finalizer armature.dev/cleanup to the owner before it creates the first such child. When the owner is
// deleted, [Builder.Reconcile] and an [Operator] delete these children, wait for them (see [Result].Pending), and then remove the
// finalizer. If the program no longer runs, someone must remove the finalizer by hand. The builder deletes these children even if the
// owner's deletion orphans its children. It prunes them like others.
//
// The program needs the permissions to patch owners, and to list and delete the kind in the whole cluster. A plan should not let an
// owner's author choose names and namespaces freely, because the operator could then write objects that the author can't write.
// Managed fields are no stronger proof than the permission to patch: anyone with that permission can write under the engine's name and
// make the object look like a child. They could also have it deleted by a reference to an owner that doesn't exist.
//
// As an option of [Operator.Owns] it declares the kind of such children. An event of a child runs its owner's plan, and the view has
// the child. The operator watches the kind in the whole cluster, or in the namespaces of the manager's cache, which must include those
// of the children. If owners also have children of the kind in their own namespace, declare the kind twice, with and without the
// option. A plan with cross-namespace children of an undeclared kind is [ErrMisuse].
func CrossNamespace() interface {
	ChildOption
	OwnsOption
} {
	return crossNamespace{}
}

type crossNamespace struct{}

func (crossNamespace) applyToChild(c *Child) { c.desired.CrossNamespace = true }
func (crossNamespace) applyToOwns(o *owns)   { o.crossNamespace = true }

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
