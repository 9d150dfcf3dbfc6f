package builder

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
)

// Get reads a child by its name and obj's kind into obj, as a copy. An object that the owner doesn't control is [ErrNotOwned]. For a
// missing object apierrors.IsNotFound is true. Only the option [CrossNamespace] matters: the child is then in the namespace of obj.
func (b *Builder) Get(ctx context.Context, name string, obj client.Object, opts ...ChildOption) error {
	p, err := b.engine.newPass(b.owner)
	if err != nil {
		return err
	}
	if kinds.IsNil(obj) {
		return fmt.Errorf("%w: an object is nil (%T)", ErrMisuse, obj)
	}
	obj.SetName(name)
	return publicError(p.get(ctx, Want(obj, opts...)))
}

// get reads a child into the given object.
func (p *pass) get(ctx context.Context, like Child) error {
	_, key, err := p.cluster.KeyOf(&like.desired)
	if err != nil {
		return err
	}
	if err := p.engine.client.Get(ctx, key.NamespacedName(), like.desired.Object); err != nil {
		return &Error{Key: key, Operation: "read", cause: err}
	}
	if !p.isChild(like, like.desired.Object) {
		return failure.NotOwned("read", key, like.desired.Object)
	}
	return nil
}

// isChild reports whether an object is the owner's, in the namespace that the options ask for.
func (p *pass) isChild(like Child, obj client.Object) bool {
	if like.desired.CrossNamespace {
		return p.cluster.Marks.IsCrossNamespace(obj, like.desired.FormerManagers())
	}
	return metav1.IsControlledBy(obj, p.owner)
}

// List reads copies of all the owner's children of a kind into list. Default: those in the owner's namespace; with [CrossNamespace],
// all others.
func (b *Builder) List(ctx context.Context, list client.ObjectList, opts ...ChildOption) error {
	p, err := b.engine.newPass(b.owner)
	if err != nil {
		return err
	}
	gvk, err := apiutil.GVKForObject(list, b.engine.client.Scheme())
	if err != nil {
		return fmt.Errorf("%w: %T is of no kind that the client's scheme knows: %w", ErrMisuse, list, err)
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	_, untyped := list.(runtime.Unstructured)
	k, like := kinds.Kind{GVK: gvk, Untyped: untyped}, Want(nil, opts...)
	among := client.ListOption(client.InNamespace(p.owner.GetNamespace()))
	if like.desired.CrossNamespace {
		among = b.engine.crossNamespace.Among(p.owner.GetUID(), k)
	}
	if err := b.engine.client.List(ctx, list, among, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list %s owned by %s: %w", gvk.GroupKind(), p.ownerKey, err)
	}
	var mine []runtime.Object
	err = meta.EachListItem(list, func(o runtime.Object) error {
		if obj, ok := o.(client.Object); ok && p.isChild(like, obj) {
			mine = append(mine, o.DeepCopyObject())
		}
		return nil
	})
	if err != nil {
		return err
	}
	return meta.SetList(list, mine)
}

// Create creates a child at once. It fails with AlreadyExists if the cache shows an object of its name. If the object exists and the
// cache doesn't show it yet, Create applies the child. It creates nothing for an owner that is gone. To know that, it usually
// reads the owner through [Options].Reader first, because a call about one child can't know whether others have disappeared. A child
// that is [InPhase] is [ErrMisuse] in Create and Update, because it must wait for earlier phases. To create or apply a child, whatever
// exists, use [Builder.Object] and Reconcile.
func (b *Builder) Create(ctx context.Context, obj client.Object, opts ...ChildOption) (Result, error) {
	return b.one(ctx, "create", Want(obj, opts...), func(d *apply.Desired, observed client.Object) error {
		if observed == nil {
			return nil
		}
		return apierrors.NewAlreadyExists(resourceOf(d), d.Key.Name)
	})
}

// Update applies an existing child at once. It fails with NotFound if the child doesn't exist.
func (b *Builder) Update(ctx context.Context, obj client.Object, opts ...ChildOption) (Result, error) {
	return b.one(ctx, "apply", Want(obj, opts...), func(d *apply.Desired, observed client.Object) error {
		if observed != nil {
			return nil
		}
		return apierrors.NewNotFound(resourceOf(d), d.Key.Name)
	})
}

// Delete deletes a child and its dependents, also for a terminating owner. A missing child is no error; an object that the owner
// doesn't control is [ErrNotOwned]. Only the option [CrossNamespace] matters.
func (b *Builder) Delete(ctx context.Context, obj client.Object, opts ...ChildOption) (Result, error) {
	return b.runAnyPass("delete "+nameOf(obj), func(p *pass) error {
		if kinds.IsNil(obj) {
			return fmt.Errorf("%w: an object is nil (%T)", ErrMisuse, obj)
		}
		found := obj.DeepCopyObject().(client.Object)
		err := p.get(ctx, Want(found, opts...))
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return p.deleteGiven(ctx, []client.Object{found})
	})
}

// one applies a single child, unless allow returns an error for the observed object. Like Reconcile, it does nothing for a terminating
// owner, and it records the child's kind in the inventory.
func (b *Builder) one(
	ctx context.Context, operation string, want Child, allow func(d *apply.Desired, observed client.Object) error,
) (Result, error) {
	return b.runPass("write "+nameOf(want.desired.Object), func(p *pass) error {
		if err := refusePhases(want); err != nil {
			return err
		}
		d, err := p.cluster.Desire(&want.desired)
		if err != nil {
			return err
		}
		observed, err := p.observed.Find(ctx, d.Kind, d.Key)
		if err != nil {
			return err
		}
		if err := allow(d, observed); err != nil {
			return &Error{Key: d.Key, Operation: operation, cause: err}
		}
		if err := p.recordKinds(ctx, []Child{want}); err != nil {
			return err
		}
		w, err := p.cluster.Compare(d, observed)
		if err != nil {
			return err
		}
		return p.write(ctx, []*apply.Write{w})
	})
}

// nameOf returns a name for an object in errors, also for nil.
func nameOf(obj client.Object) string {
	if kinds.IsNil(obj) {
		return ""
	}
	return fmt.Sprintf("%T %s/%s", obj, obj.GetNamespace(), obj.GetName())
}

// resourceOf returns the kind in the place where API errors name a resource.
func resourceOf(d *apply.Desired) schema.GroupResource {
	return schema.GroupResource{Group: d.Key.Group, Resource: d.Key.Kind}
}
