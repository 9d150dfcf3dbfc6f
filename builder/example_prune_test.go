package builder_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
)

// What a pass would do, before it does it: for a command that shows it, or an operator that asks first.
func ExampleBuilder_Diff() {
	show := func(ctx context.Context, engine *builder.Engine, site *corev1.ConfigMap) error {
		diff, err := engine.For(site).
			Deployment(server(site)).
			PruneAll().
			Diff(ctx)
		fmt.Print(diff)
		return err
	}
	_ = show
}

// A diff is data. Printed it reads as one.
func ExampleDiff() {
	diff := builder.Diff{Objects: []builder.ObjectDiff{{
		Operation: builder.OperationUpdated,
		Fields:    []builder.FieldDiff{{Path: "spec.replicas", Old: 2, New: 3}},
	}}}
	diff.Objects[0].Key.Kind, diff.Objects[0].Key.Namespace, diff.Objects[0].Key.Name = "Deployment", "default", "web"
	fmt.Print(diff)
	// Output:
	// ~ Deployment default/web
	// -     spec.replicas: 2
	// +     spec.replicas: 3
}

// Everything that the owner ever had and no longer wants goes, whatever its kind.
func ExampleBuilder_PruneAll() {
	reconcile := func(ctx context.Context, engine *builder.Engine, site *corev1.ConfigMap) (builder.Result, error) {
		return engine.For(site).
			Deployment(server(site)).
			PruneAll().
			Reconcile(ctx)
	}
	_ = reconcile
}

// A ClusterRole of a namespaced owner: no garbage collection reaches it, so the owner waits for its deletion.
func ExampleElsewhere() {
	plan := func(site *corev1.ConfigMap, _ builder.View) builder.Plan[*corev1.ConfigMap] {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "site-" + site.Namespace + "-" + site.Name}}
		return builder.Plan[*corev1.ConfigMap]{
			Children: []builder.Child{builder.Want(role, builder.Elsewhere())},
			PruneAll: true,
		}
	}
	_ = plan
}
