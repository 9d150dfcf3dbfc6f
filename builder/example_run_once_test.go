package builder_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
)

// The Deployment waits for the migration, which runs once for each version of the schema.
func ExampleRunOnce() {
	plan := func(owner *corev1.ConfigMap, _ builder.View) builder.Plan[*corev1.ConfigMap] {
		migrate := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: owner.Name + "-migrate"}}
		serve := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: owner.Name}}
		return builder.Plan[*corev1.ConfigMap]{
			Rollout: rollout.Options{Phases: []string{"migrate", "serve"}},
			Children: []builder.Child{
				builder.Want(migrate, builder.RunOnce(owner.Data["schema"]), builder.InPhase("migrate")),
				builder.Want(serve, builder.InPhase("serve")),
			},
		}
	}
	p := plan(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Data: map[string]string{"schema": "7"}}, builder.View{})
	for _, c := range p.Children {
		fmt.Println(c.Object().GetName())
	}
	// Output:
	// shop-migrate
	// shop
}

// A database before what connects to it, also at the first install.
func ExampleBuilder_Rollout_installInOrder() {
	database := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "database"}}
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	describe := func(engine *builder.Engine, owner *corev1.ConfigMap) *builder.Builder {
		return engine.For(owner).
			StatefulSet(database, builder.InPhase("data")).
			Deployment(web, builder.InPhase("serve")).
			Rollout(rollout.Options{Phases: []string{"data", "serve"}, InstallInOrder: true})
	}
	_ = describe // and call Reconcile
}
