package program

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/internal/running"
)

// permitted returns the watched namespaces without those in which the program may not list its own kinds.
func (o Options) permitted(ctx context.Context, scheme *runtime.Scheme, watched []string) ([]string, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	kinds, err := o.ownKinds(scheme)
	if err != nil {
		return nil, err
	}
	leftOut := running.LeftOut(ctx, c, watched, kinds, ctrl.Log)
	return slices.DeleteFunc(watched, func(name string) bool { return slices.Contains(leftOut, name) }), nil
}

// ownKinds returns the kinds of objects that aren't Kubernetes' and are read in the watched namespaces: those of the owners, perhaps among
// others. The manager with the operators, which would know, needs the namespaces before.
func (o Options) ownKinds(scheme *runtime.Scheme) ([]schema.GroupVersionKind, error) {
	elsewhere := map[schema.GroupVersionKind]bool{}
	for obj, by := range o.Cache.ByObject {
		gvk, err := apiutil.GVKForObject(obj, scheme)
		if err != nil {
			return nil, err
		}
		elsewhere[gvk] = len(by.Namespaces) > 0
	}
	kubernetes := NewScheme(func(*runtime.Scheme) error { return nil })
	var kinds []schema.GroupVersionKind
	for gvk := range scheme.AllKnownTypes() {
		if kubernetes.Recognizes(gvk) || elsewhere[gvk] || !scheme.Recognizes(gvk.GroupVersion().WithKind(gvk.Kind+"List")) {
			continue
		}
		obj, err := scheme.New(gvk)
		if err != nil {
			return nil, err
		}
		if _, ok := obj.(client.Object); ok {
			kinds = append(kinds, gvk)
		}
	}
	return kinds, nil
}
