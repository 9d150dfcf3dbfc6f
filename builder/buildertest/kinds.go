package buildertest

import (
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/builder/internal/scope"
)

// kind is a kind of objects as the server knows it.
type kind struct {
	gvk        schema.GroupVersionKind
	resource   schema.GroupResource
	namespaced bool
	builtin    bool // stored typed; custom kinds are stored untyped
	status     bool // written separately
}

type kinds struct {
	scheme        *runtime.Scheme
	plurals       map[schema.GroupKind]string
	withStatus    map[schema.GroupKind]bool
	clusterScoped map[schema.GroupKind]bool
}

func newKinds(s *runtime.Scheme) *kinds {
	return &kinds{
		scheme:        s,
		plurals:       map[schema.GroupKind]string{},
		withStatus:    map[schema.GroupKind]bool{},
		clusterScoped: map[schema.GroupKind]bool{},
	}
}

// of returns the kind of an object or a list, typed or not.
func (k *kinds) of(obj runtime.Object) (kind, error) {
	gvk, err := apiutil.GVKForObject(obj, k.scheme)
	if err != nil {
		return kind{}, err
	}
	if _, ok := obj.(client.ObjectList); ok {
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	return k.named(gvk)
}

func (k *kinds) named(gvk schema.GroupVersionKind) (kind, error) {
	gk := gvk.GroupKind()
	_, fromCRD := k.plurals[gk]
	if !fromCRD && !k.scheme.Recognizes(gvk) {
		return kind{}, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: []string{gvk.Version}}
	}
	plural := k.plurals[gk]
	if plural == "" {
		guess, _ := meta.UnsafeGuessKindToResource(gvk)
		plural = guess.Resource
	}
	builtin := scheme.Scheme.Recognizes(gvk)
	cluster, told := k.clusterScoped[gk]
	if !told {
		cluster = scope.IsCluster(gk)
	}
	status, told := k.withStatus[gk]
	if !told {
		status = builtin && k.hasStatusField(gvk)
	}
	return kind{
		gvk: gvk, resource: schema.GroupResource{Group: gvk.Group, Resource: plural},
		namespaced: !cluster, builtin: builtin, status: status,
	}, nil
}

// has reports whether the server knows a kind in some version.
func (k *kinds) has(gk schema.GroupKind) bool {
	_, fromCRD := k.plurals[gk]
	return fromCRD || len(k.scheme.VersionsForGroupKind(gk)) > 0
}

// hasStatusField reports whether a built-in kind has a status, which is then a subresource.
func (k *kinds) hasStatusField(gvk schema.GroupVersionKind) bool {
	obj, err := scheme.Scheme.New(gvk)
	if err != nil {
		return false
	}
	_, ok := reflect.TypeOf(obj).Elem().FieldByName("Status")
	return ok
}

// each calls f with the kinds of objects.
func (k *kinds) each(objs []client.Object, f func(schema.GroupVersionKind)) error {
	for _, obj := range objs {
		gvk, err := apiutil.GVKForObject(obj, k.scheme)
		if err != nil {
			return err
		}
		f(gvk)
	}
	return nil
}

// restMapper returns a mapper of the server's kinds.
func (k *kinds) restMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(k.scheme.PrioritizedVersionsAllGroups())
	for gvk := range k.scheme.AllKnownTypes() {
		if known, err := k.named(gvk); err == nil && gvk.Version != runtime.APIVersionInternal {
			in := meta.RESTScopeRoot
			if known.namespaced {
				in = meta.RESTScopeNamespace
			}
			plural := gvk.GroupVersion().WithResource(known.resource.Resource)
			singular := gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind))
			m.AddSpecific(gvk, plural, singular, in)
		}
	}
	return m
}

// empty returns a new object of a kind, as the server stores it.
func (k kind) empty() client.Object {
	if k.builtin {
		if obj, err := scheme.Scheme.New(k.gvk); err == nil {
			obj.GetObjectKind().SetGroupVersionKind(k.gvk)
			if o, ok := obj.(client.Object); ok {
				return o
			}
		}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k.gvk)
	return u
}

func (k kind) notFound(name string) error { return apierrors.NewNotFound(k.resource, name) }

func (k kind) alreadyExists(found client.Object) error {
	err := apierrors.NewAlreadyExists(k.resource, found.GetName())
	if found.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

func (k kind) conflict(name, format string, args ...any) error {
	return apierrors.NewConflict(k.resource, name, fmt.Errorf(format, args...))
}
