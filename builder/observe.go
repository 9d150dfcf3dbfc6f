package builder

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// children is what an owner has, by key. Its objects are shared with the cache: read only.
type children map[store.Key]client.Object

// listOwned adds the owner's children of one kind. It asks the index when there is one, else it looks through the
// owner's namespace.
func (e *Engine) listOwned(ctx context.Context, owner client.Object, gvk schema.GroupVersionKind, like client.Object, into children) error {
	list, err := e.listFor(gvk, like)
	if err != nil {
		return err
	}
	opts := []client.ListOption{client.UnsafeDisableDeepCopy}
	if ns := owner.GetNamespace(); ns != "" {
		opts = append(opts, client.InNamespace(ns))
	}
	if e.isIndexed(gvk) {
		opts = append(opts, client.MatchingFields{e.ownerIndex(): string(owner.GetUID())})
	}
	if err := e.client.List(ctx, list, opts...); err != nil {
		return fmt.Errorf("list %s owned by %s: %w", gvk.Kind, owner.GetName(), err)
	}
	return meta.EachListItem(list, func(o runtime.Object) error {
		obj, ok := o.(client.Object)
		if ok && metav1.IsControlledBy(obj, owner) {
			into[store.KeyOf(gvk, obj.GetNamespace(), obj.GetName())] = obj
		}
		return nil
	})
}

// listFor returns an empty list of a kind, typed if like is.
func (e *Engine) listFor(gvk schema.GroupVersionKind, like client.Object) (client.ObjectList, error) {
	listKind := gvk.GroupVersion().WithKind(gvk.Kind + "List")
	if _, ok := like.(runtime.Unstructured); ok {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(listKind)
		return list, nil
	}
	obj, err := e.client.Scheme().New(listKind)
	if err != nil {
		return nil, fmt.Errorf("list type of %s: %w", gvk.Kind, err)
	}
	list, ok := obj.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("list type of %s: %T is no list", gvk.Kind, obj)
	}
	return list, nil
}

// read returns the object of d's name, or nil if there is none. The object is shared with the cache.
func (e *Engine) read(ctx context.Context, d *desired) (client.Object, error) {
	found := e.emptyLike(d)
	err := e.client.Get(ctx, d.key.NamespacedName(), found, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Key: d.key, Operation: "read", Err: err}
	}
	return found, nil
}

// emptyLike returns a new object of d's kind, of the same Go type.
func (e *Engine) emptyLike(d *desired) client.Object {
	if _, ok := d.object.(runtime.Unstructured); ok {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(d.gvk)
		return u
	}
	obj, err := e.client.Scheme().New(d.gvk)
	if err != nil { // stamp looked the type up in this scheme
		return d.object.DeepCopyObject().(client.Object)
	}
	return obj.(client.Object)
}
