package buildertest

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Get implements client.Reader. The object is always a copy.
func (c *Client) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	r, err := c.request(VerbGet, obj, key)
	if err != nil {
		return err
	}
	r.live = asks(opts)
	return c.get(ctx, r, obj)
}

func (c *Client) get(ctx context.Context, r *request, obj client.Object) error {
	if err := r.checkKey(); err != nil {
		return err
	}
	return c.answer(ctx, r, obj, func() (client.Object, error) {
		if h := c.server.tables[r.kind.gvk][r.key()]; h != nil {
			if found := h.at(c.horizon(r.kind, r.live)); found != nil {
				return found, nil
			}
		}
		return nil, r.kind.notFound(r.Name)
	})
}

// List implements client.Reader. It supports label selectors, metadata.name and metadata.namespace as field selectors, the fields of
// indexes, and limits. The items are always copies.
func (c *Client) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	r, err := c.request(VerbList, list, client.ObjectKey{Namespace: o.Namespace})
	if err != nil {
		return err
	}
	r.live = asks(opts)
	var found []client.Object
	var version uint64
	_, err = c.call(ctx, r, func() (client.Object, error) {
		version = c.horizon(r.kind, r.live)
		var last page
		if o.Continue != "" {
			var err error
			if last, err = decodePage(o.Continue); err != nil {
				return nil, err
			}
			version = last.Version
		}
		var err error
		found, err = c.selected(r.kind, version, o)
		if o.Continue != "" {
			found = slices.DeleteFunc(found, func(obj client.Object) bool { return !last.follows(obj) })
		}
		return nil, err
	})
	if err != nil {
		return err
	}
	next := ""
	if o.Limit > 0 && len(found) > int(o.Limit) {
		found = found[:o.Limit]
		last := found[len(found)-1]
		if next, err = (page{Version: version, Namespace: last.GetNamespace(), Name: last.GetName()}).encode(); err != nil {
			return err
		}
	}
	items := make([]runtime.Object, len(found))
	for i, obj := range found {
		item, err := c.itemOf(list, r.kind.gvk)
		if err != nil {
			return err
		}
		if err := c.server.encode(obj, r.kind.gvk, item); err != nil {
			return err
		}
		items[i] = item
	}
	if err := meta.SetList(list, items); err != nil {
		return err
	}
	list.SetResourceVersion(strconv.FormatUint(version, 10))
	list.SetContinue(next)
	return nil
}

// itemOf returns a new object of the Go type that a list has.
func (c *Client) itemOf(list client.ObjectList, gvk schema.GroupVersionKind) (client.Object, error) {
	switch list.(type) {
	case runtime.Unstructured:
		return &unstructured.Unstructured{}, nil
	case *metav1.PartialObjectMetadataList:
		return &metav1.PartialObjectMetadata{}, nil
	}
	obj, err := c.server.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	item, ok := obj.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object", obj)
	}
	return item, nil
}

// selected returns the stored objects of a list.
func (c *Client) selected(k kind, version uint64, o *client.ListOptions) ([]client.Object, error) {
	byField, err := c.fieldSelector(k, o.FieldSelector)
	if err != nil {
		return nil, err
	}
	var found []client.Object
	for _, obj := range c.server.list(k.gvk, version) {
		if o.Namespace != "" && k.namespaced && obj.GetNamespace() != o.Namespace {
			continue
		}
		if o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(obj.GetLabels())) {
			continue
		}
		matches, err := byField(obj)
		if err != nil {
			return nil, err
		}
		if matches {
			found = append(found, obj)
		}
	}
	return found, nil
}

// fieldSelector returns a function that tests an object against a field selector, of indexes and of the names.
func (c *Client) fieldSelector(k kind, selector fields.Selector) (func(client.Object) (bool, error), error) {
	if selector == nil || selector.Empty() {
		return func(client.Object) (bool, error) { return true, nil }, nil
	}
	requirements := selector.Requirements()
	for _, req := range requirements {
		if req.Operator != selection.Equals && req.Operator != selection.DoubleEquals {
			return nil, fmt.Errorf("field selector %s: only key=value is supported", selector)
		}
		if c.index(k.gvk, req.Field) == nil {
			return nil, fmt.Errorf("field label not supported: %s has no index %q: register it with IndexField", k.gvk.Kind, req.Field)
		}
	}
	return func(obj client.Object) (bool, error) {
		given, err := c.asGiven(k, obj)
		if err != nil {
			return false, err
		}
		for _, req := range requirements {
			if !slices.Contains(c.index(k.gvk, req.Field)(given), req.Value) {
				return false, nil
			}
		}
		return true, nil
	}, nil
}

// asGiven returns a stored object in the Go type that index functions expect: the scheme's, if it knows the kind.
func (c *Client) asGiven(k kind, obj client.Object) (client.Object, error) {
	if k.builtin || !c.server.scheme.Recognizes(k.gvk) {
		return copyOf(obj), nil
	}
	given, err := c.server.scheme.New(k.gvk)
	if err != nil {
		return nil, err
	}
	typed, ok := given.(client.Object)
	if !ok {
		return copyOf(obj), nil
	}
	return typed, c.server.encode(obj, k.gvk, typed)
}
