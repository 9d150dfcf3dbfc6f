package kinds

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/store"
)

// Kind is a kind of objects in one of its Go forms. A cache stores each form separately, and so does the builder: an object indexed or
// listed as typed can't be compared with a desired unstructured one.
type Kind struct {
	GVK     schema.GroupVersionKind
	Untyped bool
}

// Key returns the key of an object of the kind.
func (k Kind) Key(obj client.Object) store.Key {
	return store.KeyOf(k.GVK, obj.GetNamespace(), obj.GetName())
}

// IsUntyped reports whether an object is unstructured.
func IsUntyped(obj client.Object) bool {
	_, ok := obj.(runtime.Unstructured)
	return ok
}

// IsNil reports whether a value, such as an object, is nil, or a nil pointer to a Go type.
func IsNil(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Registry answers questions about kinds. It is safe for concurrent use.
type Registry struct {
	client     client.Client
	now        func() time.Time
	ofType     sync.Map // reflect.Type of typed objects -> Kind
	namespaced sync.Map // schema.GroupVersionKind -> bool
	missing    sync.Map // schema.GroupVersionKind -> *Missing
	builtins   sync.Map // schema.GroupVersionKind -> reflect.Type, nil if it is none
}

// New returns a Registry for a client and its cluster. Now is the clock for missing kinds.
func New(c client.Client, now func() time.Time) *Registry { return &Registry{client: c, now: now} }

// Of returns the kind of an object. A nil object, one of a kind that the scheme doesn't know, or a nil client is [failure.ErrMisuse].
func (r *Registry) Of(obj client.Object) (Kind, error) {
	if IsNil(obj) {
		return Kind{}, fmt.Errorf("%w: an object is nil (%T)", failure.ErrMisuse, obj)
	}
	t := reflect.TypeOf(obj)
	if known, ok := r.ofType.Load(t); ok {
		return known.(Kind), nil
	}
	if r.client == nil {
		return Kind{}, fmt.Errorf("%w: the engine has no client; give EngineFor a manager, or NewEngine a client", failure.ErrMisuse)
	}
	gvk, err := apiutil.GVKForObject(obj, r.client.Scheme())
	if err != nil {
		return Kind{}, fmt.Errorf("%w: %T is of no kind that the client's scheme knows: %w", failure.ErrMisuse, obj, err)
	}
	k := Kind{GVK: gvk, Untyped: IsUntyped(obj)}
	if gvks, _, err := r.client.Scheme().ObjectKinds(obj); err == nil && len(gvks) == 1 && !k.Untyped {
		r.ofType.Store(t, k)
	}
	return k, nil
}

// GVK returns the Kubernetes kind of an object.
func (r *Registry) GVK(obj client.Object) (schema.GroupVersionKind, error) {
	k, err := r.Of(obj)
	return k.GVK, err
}

// IsNamespaced reports whether a kind is namespaced; obj is an object of the kind. It returns a [Missing] if the cluster doesn't know
// the kind.
func (r *Registry) IsNamespaced(k Kind, obj client.Object) (bool, error) {
	if known, ok := r.namespaced.Load(k.GVK); ok {
		return known.(bool), nil
	}
	if err := r.isMissing(k.GVK); err != nil {
		return false, err
	}
	namespaced, err := r.client.IsObjectNamespaced(obj)
	if meta.IsNoMatchError(err) {
		return false, r.NoteMissing(k.GVK, err)
	}
	if err != nil {
		return false, fmt.Errorf("scope of %s: %w", k.GVK.GroupKind(), err)
	}
	r.namespaced.Store(k.GVK, namespaced)
	return namespaced, nil
}

// Empty returns a new object of a kind, of the Go type that the client's scheme has for it.
func (r *Registry) Empty(k Kind) (client.Object, error) {
	if k.Untyped {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k.GVK)
		return u, nil
	}
	obj, err := r.client.Scheme().New(k.GVK)
	if err != nil {
		return nil, fmt.Errorf("type of %s: %w", k.GVK.GroupKind(), err)
	}
	typed, ok := obj.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%w: %T of kind %s is no object", failure.ErrMisuse, obj, k.GVK.Kind)
	}
	return typed, nil
}

// Named returns an empty object of a kind with a key.
func (r *Registry) Named(k Kind, key store.Key) (client.Object, error) {
	obj, err := r.Empty(k)
	if err != nil {
		return nil, err
	}
	obj.SetNamespace(key.Namespace)
	obj.SetName(key.Name)
	return obj, nil
}

// IsTyped reports whether an object is of the Go type that the client's scheme has for its kind: neither unstructured
// nor its metadata alone.
func (r *Registry) IsTyped(k Kind, obj client.Object) bool {
	like, err := r.Empty(Kind{GVK: k.GVK})
	return err == nil && reflect.TypeOf(like) == reflect.TypeOf(obj)
}

// Builtin returns the Go type of a kind of Kubernetes itself, nil for others. The client's scheme doesn't have to know it.
func (r *Registry) Builtin(gvk schema.GroupVersionKind) reflect.Type {
	if known, ok := r.builtins.Load(gvk); ok {
		t, _ := known.(reflect.Type)
		return t
	}
	like, err := r.client.Scheme().New(gvk)
	if err != nil {
		like, err = scheme.Scheme.New(gvk)
	}
	var t reflect.Type
	if err == nil && payload.IsKubernetes(reflect.TypeOf(like).Elem()) {
		t = reflect.TypeOf(like)
	}
	r.builtins.Store(gvk, t)
	return t
}

// EmptyList returns a new list of a kind, of the Go type that the client's scheme has for it.
func (r *Registry) EmptyList(k Kind) (client.ObjectList, error) {
	listKind := k.GVK.GroupVersion().WithKind(k.GVK.Kind + "List")
	if k.Untyped {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(listKind)
		return list, nil
	}
	obj, err := r.client.Scheme().New(listKind)
	if err != nil {
		return nil, fmt.Errorf("list type of %s: %w", k.GVK.GroupKind(), err)
	}
	list, ok := obj.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%w: %T of kind %s is no list", failure.ErrMisuse, obj, listKind.Kind)
	}
	return list, nil
}
