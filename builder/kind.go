package builder

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

	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/store"
)

// kind is a kind of objects in one of its Go forms. A cache keeps each form by itself, and so do we: what was indexed
// or listed as typed can't be compared with what is desired as unstructured.
type kind struct {
	gvk     schema.GroupVersionKind
	untyped bool
}

func (k kind) key(obj client.Object) store.Key {
	return store.KeyOf(k.gvk, obj.GetNamespace(), obj.GetName())
}

func isUntyped(obj client.Object) bool {
	_, ok := obj.(runtime.Unstructured)
	return ok
}

func isNil(obj client.Object) bool {
	if obj == nil {
		return true
	}
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// kinds answers what kind an object is and whether the kind is namespaced: always the same, and dear to look up.
type kinds struct {
	client     client.Client
	now        func() time.Time
	ofType     sync.Map // reflect.Type of typed objects -> kind
	namespaced sync.Map // schema.GroupVersionKind -> bool
	missing    sync.Map // schema.GroupVersionKind -> *kindMissing
	builtins   sync.Map // schema.GroupVersionKind -> reflect.Type, nil if it is none
}

// of returns the kind of an object that may be nil: what isn't a kind is misuse.
func (s *kinds) of(obj client.Object) (kind, error) {
	if isNil(obj) {
		return kind{}, fmt.Errorf("%w: an object is nil (%T)", ErrMisuse, obj)
	}
	t := reflect.TypeOf(obj)
	if known, ok := s.ofType.Load(t); ok {
		return known.(kind), nil
	}
	gvk, err := apiutil.GVKForObject(obj, s.client.Scheme())
	if err != nil {
		return kind{}, fmt.Errorf("%w: %T is of no kind that the client's scheme knows: %w", ErrMisuse, obj, err)
	}
	k := kind{gvk: gvk, untyped: isUntyped(obj)}
	if gvks, _, err := s.client.Scheme().ObjectKinds(obj); err == nil && len(gvks) == 1 && !k.untyped {
		s.ofType.Store(t, k)
	}
	return k, nil
}

func (s *kinds) isNamespaced(k kind, obj client.Object) (bool, error) {
	if known, ok := s.namespaced.Load(k.gvk); ok {
		return known.(bool), nil
	}
	if err := s.isMissing(k.gvk); err != nil {
		return false, err
	}
	namespaced, err := s.client.IsObjectNamespaced(obj)
	if meta.IsNoMatchError(err) {
		return false, s.noteMissing(k.gvk, err)
	}
	if err != nil {
		return false, fmt.Errorf("scope of %s: %w", k.gvk.GroupKind(), err)
	}
	s.namespaced.Store(k.gvk, namespaced)
	return namespaced, nil
}

// empty returns a new object of a kind, of the Go type that the client's scheme has for it.
func (s *kinds) empty(k kind) (client.Object, error) {
	if k.untyped {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k.gvk)
		return u, nil
	}
	obj, err := s.client.Scheme().New(k.gvk)
	if err != nil {
		return nil, fmt.Errorf("type of %s: %w", k.gvk.GroupKind(), err)
	}
	typed, ok := obj.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%w: %T of kind %s is no object", ErrMisuse, obj, k.gvk.Kind)
	}
	return typed, nil
}

// isTyped reports whether an object is of the Go type that the client's scheme has for its kind: neither unstructured
// nor its metadata alone.
func (s *kinds) isTyped(k kind, obj client.Object) bool {
	like, err := s.empty(kind{gvk: k.gvk})
	return err == nil && reflect.TypeOf(like) == reflect.TypeOf(obj)
}

// builtin returns the Go type of a kind that is one of Kubernetes' own, nil for others. The client's scheme needn't know it.
func (s *kinds) builtin(gvk schema.GroupVersionKind) reflect.Type {
	if known, ok := s.builtins.Load(gvk); ok {
		t, _ := known.(reflect.Type)
		return t
	}
	like, err := s.client.Scheme().New(gvk)
	if err != nil {
		like, err = scheme.Scheme.New(gvk)
	}
	var t reflect.Type
	if err == nil && payload.IsKubernetes(reflect.TypeOf(like).Elem()) {
		t = reflect.TypeOf(like)
	}
	s.builtins.Store(gvk, t)
	return t
}

// typed returns an unstructured object as one of the Go type that the client's scheme has for its kind.
func (s *kinds) typed(k kind, u runtime.Unstructured) (client.Object, error) {
	obj, err := s.empty(kind{gvk: k.gvk})
	if err != nil {
		return nil, err
	}
	return obj, runtime.DefaultUnstructuredConverter.FromUnstructured(u.UnstructuredContent(), obj)
}

// emptyList returns a new list of a kind.
func (s *kinds) emptyList(k kind) (client.ObjectList, error) {
	listKind := k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List")
	if k.untyped {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(listKind)
		return list, nil
	}
	obj, err := s.client.Scheme().New(listKind)
	if err != nil {
		return nil, fmt.Errorf("list type of %s: %w", k.gvk.GroupKind(), err)
	}
	list, ok := obj.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%w: %T of kind %s is no list", ErrMisuse, obj, listKind.Kind)
	}
	return list, nil
}
