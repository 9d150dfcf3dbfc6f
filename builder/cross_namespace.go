package builder

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// CrossNamespace allows a child where garbage collection doesn't serve its owner: a cluster-scoped child of a namespaced owner, or
// one in another namespace, which its metadata.namespace names. Default: such a child is refused with [ErrMisuse].
//
// Such a child has no owner reference. The label armature.dev/owner-uid and the annotations armature.dev/owner-kind and
// armature.dev/owner say whose it is, as long as they are the builder's own: the object's managed fields must say that the
// engine's field manager has set them, or one that [Adopt] names as a former one. Any other object of its name is refused
// with [ErrNotOwned], and never pruned, whatever its labels say. The owner gets the finalizer
// [Finalizer] before the first such child is created, and loses it once they are all gone: when an owner is deleted,
// [Builder.Reconcile] and an [Operator] delete them, wait for them (see [Result.Waiting]), and only then let it go. If
// they no longer run, someone must remove the finalizer by hand. They are deleted also if the owner's deletion orphans its
// children. They are pruned as others are.
//
// Needed are the permissions to patch owners, and to list and delete the kind in the whole cluster. A plan should not
// let an owner's author choose names and namespaces freely: what they can't write themselves, the operator would write
// for them. Managed fields prove as much as the right to patch an object does: who has it can write under the engine's
// name, and make the object look like a child, as they can have it deleted by a reference to an owner that isn't there.
//
// As an option of [Operator.Owns] it declares the kind of such children: an event of one runs its owner's plan, and the view has it.
// They are watched in the whole cluster, or as far as the manager's cache reaches, which must be where these children are. A kind of
// which owners have children in their own namespace as well has two lines. A plan with cross-namespace children of another kind is
// [ErrMisuse].
func CrossNamespace() interface {
	ChildOption
	OwnsOption
} {
	return crossNamespace{}
}

type crossNamespace struct{}

func (crossNamespace) applyToChild(c *Child) { c.desired.CrossNamespace = true }
func (crossNamespace) applyToOwns(o *owns)   { o.crossNamespace = true }

// isCrossNamespace reports whether an object is the owner's cross-namespace child.
func (p *pass) isCrossNamespace(obj client.Object) bool {
	return p.cluster.Marks.IsCrossNamespace(obj, nil)
}

// owns reports whether an object is the owner's, wherever it is.
func (p *pass) owns(obj client.Object) bool {
	return metav1.IsControlledBy(obj, p.owner) || p.isCrossNamespace(obj)
}

// observeCrossNamespace reads the owner's cross-namespace children of one kind, once a pass, as the cache has them.
func (p *pass) observeCrossNamespace(ctx context.Context, k kinds.Kind) error {
	if p.listedCrossNamespace[k] {
		return nil
	}
	children, err := p.engine.crossNamespace.List(ctx, p.engine.client, p.cluster.Marks, k)
	if err != nil {
		return fmt.Errorf("observe the children of %s in other namespaces: %w", p.ownerKey, err)
	}
	if p.listedCrossNamespace == nil {
		p.listedCrossNamespace = map[kinds.Kind]bool{}
	}
	p.listedCrossNamespace[k] = true
	for _, obj := range children {
		p.observed[k.Key(obj)] = obj
	}
	return nil
}

// finalize deletes the cross-namespace children of an owner that is being deleted, and lets the owner go once there are none.
// The API server is asked: a cache may not show what was created just before. Besides what is on record, all kinds are
// read of which this program knows that it has cross-namespace children, should someone have edited the record.
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

// deleteCrossNamespace deletes the owner's cross-namespace children of one kind, and reports whether any are left: they are
// waited for.
func (p *pass) deleteCrossNamespace(ctx context.Context, gk schema.GroupKind) (left bool, err error) {
	for deleted := false; ; deleted = true {
		found, err := p.engine.listMetadata(ctx, gk, client.MatchingLabels{wellknown.LabelOwnerUID: string(p.owner.GetUID())})
		if err != nil {
			return true, fmt.Errorf("delete %s in other namespaces, which is in the inventory of %s: %w", gk, p.ownerKey, err)
		}
		var present, stale []store.Key
		for i := range found {
			obj := &found[i]
			if !p.isCrossNamespace(obj) {
				continue
			}
			key := store.KeyOf(obj.GroupVersionKind(), obj.Namespace, obj.Name)
			present = append(present, key)
			if obj.GetDeletionTimestamp() == nil {
				p.observed[key] = obj
				stale = append(stale, key)
			}
		}
		if deleted || len(stale) == 0 {
			p.result.Waiting = append(p.result.Waiting, present...)
			return len(present) > 0, nil
		}
		if err := p.deleteAll(ctx, stale); err != nil {
			return true, err
		}
	}
}
