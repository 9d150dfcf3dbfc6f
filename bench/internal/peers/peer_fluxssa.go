package peers

import (
	"context"

	"github.com/fluxcd/pkg/ssa"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// setUpFluxSSA sets the ResourceManager up as Flux's kustomize-controller does: with its default of four at a time, and
// stale objects found by the inventory of the pass before.
func setUpFluxSSA(mgr manager.Manager) (reconciler, error) {
	m := ssa.NewResourceManager(mgr.GetClient(), nil, ssa.Owner{Field: "bench", Group: "bench.armature.dev"})
	m.SetConcurrency(4)
	inventory := map[string]map[string]bool{} // by namespace
	return func(ctx context.Context, owner *corev1.ConfigMap, wanted []*appsv1.Deployment) error {
		objects := make([]*unstructured.Unstructured, len(wanted))
		names := map[string]bool{}
		for i, d := range wanted {
			d.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
			if err != nil {
				return err
			}
			delete(fields, "status")
			objects[i] = &unstructured.Unstructured{Object: fields}
			names[d.Name] = true
		}
		if _, err := m.ApplyAll(ctx, objects, ssa.DefaultApplyOptions()); err != nil {
			return err
		}
		var stale []*unstructured.Unstructured
		for name := range inventory[owner.Namespace] {
			if !names[name] {
				u := &unstructured.Unstructured{}
				u.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
				u.SetNamespace(owner.Namespace)
				u.SetName(name)
				stale = append(stale, u)
			}
		}
		inventory[owner.Namespace] = names
		_, err := m.DeleteAll(ctx, stale, ssa.DefaultDeleteOptions())
		return err
	}, nil
}
