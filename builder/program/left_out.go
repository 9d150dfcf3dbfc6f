package program

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/internal/running"
)

// leaveOut returns the watched namespaces in which the program may not list its own kinds.
func (o Options) leaveOut(ctx context.Context, scheme *runtime.Scheme, watched []string) (*running.LeftOut, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	kinds, err := o.ownKinds(scheme)
	if err != nil {
		return nil, err
	}
	return running.LeaveOut(ctx, cfg, watched, kinds, ctrl.Log)
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
