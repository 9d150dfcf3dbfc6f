package builder

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Get reads the child called name of obj's kind into obj, a copy. An object that isn't the owner's is ErrNotOwned; one
// that doesn't exist satisfies apierrors.IsNotFound.
func (b *Builder) Get(ctx context.Context, name string, obj client.Object) error {
	p, err := b.engine.newPass(b.owner)
	if err != nil {
		return err
	}
	obj.SetName(name)
	key, err := p.key(obj)
	if err != nil {
		return err
	}
	if err := b.engine.client.Get(ctx, key.NamespacedName(), obj); err != nil {
		return &Error{Key: key, Operation: "read", Err: err}
	}
	if !metav1.IsControlledBy(obj, b.owner) {
		return &Error{Key: key, Operation: "read", Err: fmt.Errorf("%w: %s", ErrNotOwned, describeOwner(obj))}
	}
	return nil
}

// List reads into list copies of all the owner's children of its kind.
func (b *Builder) List(ctx context.Context, list client.ObjectList) error {
	var opts []client.ListOption
	if ns := b.owner.GetNamespace(); ns != "" {
		opts = append(opts, client.InNamespace(ns))
	}
	if err := b.engine.client.List(ctx, list, opts...); err != nil {
		return err
	}
	var mine []runtime.Object
	err := meta.EachListItem(list, func(o runtime.Object) error {
		if obj, ok := o.(client.Object); ok && metav1.IsControlledBy(obj, b.owner) {
			mine = append(mine, o)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return meta.SetList(list, mine)
}

// Create makes a child and fails with AlreadyExists if an object of its name exists.
func (b *Builder) Create(ctx context.Context, obj client.Object) (Result, error) {
	return b.one(ctx, obj, func(d *desired, found client.Object) error {
		if found == nil {
			return nil
		}
		return apierrors.NewAlreadyExists(resourceOf(d), d.key.Name)
	})
}

// Update applies a child that exists and fails with NotFound if it doesn't.
func (b *Builder) Update(ctx context.Context, obj client.Object) (Result, error) {
	return b.one(ctx, obj, func(d *desired, found client.Object) error {
		if found != nil {
			return nil
		}
		return apierrors.NewNotFound(resourceOf(d), d.key.Name)
	})
}

// CreateOrUpdate makes one child as wanted, now, apart from those that Reconcile will handle.
func (b *Builder) CreateOrUpdate(ctx context.Context, obj client.Object) (Result, error) {
	return b.one(ctx, obj, func(*desired, client.Object) error { return nil })
}

// Delete deletes a child and what it owns. One that doesn't exist is no error; one that isn't the owner's is ErrNotOwned.
func (b *Builder) Delete(ctx context.Context, obj client.Object) (Result, error) {
	return b.runPass(ctx, func(p *pass) error {
		found := obj.DeepCopyObject().(client.Object)
		err := b.Get(ctx, obj.GetName(), found)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return p.deleteGiven(ctx, []client.Object{found})
	})
}

// one applies a single child, if allow, told of what exists, has nothing against it.
func (b *Builder) one(ctx context.Context, obj client.Object, allow func(d *desired, found client.Object) error) (Result, error) {
	return b.runPass(ctx, func(p *pass) error {
		d, err := p.stampNew(obj)
		if err != nil {
			return err
		}
		found, err := p.find(ctx, d)
		if err != nil {
			return err
		}
		if err := allow(d, found); err != nil {
			return &Error{Key: d.key, Operation: "apply", Err: err}
		}
		w, err := p.compare(d, found)
		if w == nil || err != nil {
			return err
		}
		err = w.run(ctx, p)
		p.record(w)
		return err
	})
}

// resourceOf names a kind where API errors name a resource.
func resourceOf(d *desired) schema.GroupResource {
	return schema.GroupResource{Group: d.key.Group, Resource: d.key.Kind}
}
