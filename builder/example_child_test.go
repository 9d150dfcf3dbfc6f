package builder_test

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// Objects are wanted as they would be created. A field that someone else changed is put back; one that is no longer
// wanted goes; fields that were never wanted are left alone.
func ExampleWant() {
	c, ctx := newCluster(), context.Background()
	want := settings(map[string]string{"colour": "blue"})
	say(c.engine.For(c.owner).ConfigMap(want).Reconcile(ctx))

	found := settings(nil)
	found.Namespace = "default"
	c.edit(found, `{"data":{"colour":"red","size":"L"}}`)
	say(c.engine.For(c.owner).ConfigMap(want).Reconcile(ctx))
	c.get(found)
	fmt.Println(found.Data)
	// Output:
	// Created ConfigMap default/settings
	// Updated ConfigMap default/settings
	// map[colour:blue size:L]
}

// The number of replicas is a first value, and an autoscaler's afterwards.
func ExampleIgnore() {
	c, ctx := newCluster(), context.Background()
	pass := func() {
		d := web("nginx:1.29")
		d.Spec.Replicas = ptr.To[int32](2)
		say(c.engine.For(c.owner).Deployment(d, builder.Ignore("spec.replicas")).Reconcile(ctx))
	}
	pass()
	found := web("")
	found.Namespace = "default"
	c.edit(found, `{"spec":{"replicas":7}}`)
	pass()
	c.get(found)
	fmt.Println(*found.Spec.Replicas, "replicas")
	// Output:
	// Created Deployment.apps default/web
	// 1 unchanged
	// 7 replicas
}

// When the settings change, the pods that read them are replaced.
func ExampleHashFrom() {
	c, ctx := newCluster(), context.Background()
	for _, colour := range []string{"blue", "blue", "red"} {
		config := settings(map[string]string{"colour": colour})
		say(c.engine.For(c.owner).
			ConfigMap(config).
			Deployment(web("nginx:1.29"), builder.HashFrom(config)).
			Reconcile(ctx))
	}
	found := web("")
	c.get(found)
	fmt.Println(found.Spec.Template.Spec.Containers[0].Env[0].Name)
	// Output:
	// Created ConfigMap default/settings, Created Deployment.apps default/web
	// 2 unchanged
	// Updated ConfigMap default/settings, Updated Deployment.apps default/web
	// ARMATURE_CONFIG_HASH
}

// The digest as an annotation leaves the containers as they are.
func ExampleConfigHash_AsAnnotation() {
	c := newCluster()
	config := settings(map[string]string{"colour": "blue"})
	say(c.engine.For(c.owner).
		Deployment(web("nginx:1.29"), builder.HashFrom(config).AsAnnotation()).
		Reconcile(context.Background()))
	found := web("")
	c.get(found)
	template := found.Spec.Template
	fmt.Println(len(template.Spec.Containers[0].Env), len(template.Annotations[builder.AnnotationConfigHash]))
	// Output:
	// Created Deployment.apps default/web
	// 0 32
}

// An object that exists, and that no one controls, becomes a child.
func ExampleAdopt() {
	orphan := settings(map[string]string{"colour": "red"})
	orphan.Namespace = "default"
	c, ctx := newCluster(orphan), context.Background()
	want := settings(map[string]string{"colour": "blue"})

	_, err := c.engine.For(c.owner).ConfigMap(want).Reconcile(ctx)
	fmt.Println(errors.Is(err, builder.ErrNotOwned))
	say(c.engine.For(c.owner).ConfigMap(want, builder.Adopt(builder.IfOrphan)).Reconcile(ctx))
	// Output:
	// true
	// Adopted ConfigMap default/settings
}

// A Deployment's selector can't be changed. By default that is an error, which names the field; with Recreate the
// Deployment makes way for a new one, and its pods go with it; with Keep it stays.
func ExampleOnImmutable() {
	for _, policy := range []builder.ImmutablePolicy{builder.Fail, builder.Keep, builder.Recreate(builder.Background)} {
		c, ctx := newCluster(), context.Background()
		say(c.engine.For(c.owner).Deployment(web("nginx:1.29")).Reconcile(ctx))
		changed := web("nginx:1.29")
		changed.Spec.Selector.MatchLabels = map[string]string{"app": "website"}
		changed.Spec.Template.Labels = changed.Spec.Selector.MatchLabels

		res, err := c.engine.For(c.owner).Deployment(changed, builder.OnImmutable(policy)).Reconcile(ctx)
		if about := (*builder.Error)(nil); errors.As(err, &about) {
			fmt.Println(policy, about.Key, about.Fields(), errors.Is(err, builder.ErrImmutable))
			continue
		}
		say(res, err)
		say(c.engine.For(c.owner).Deployment(changed, builder.OnImmutable(policy)).Reconcile(ctx))
	}
	// Output:
	// Created Deployment.apps default/web
	// Fail Deployment.apps default/web [spec.selector.matchLabels.app] true
	// Created Deployment.apps default/web
	// 1 unchanged
	// 1 unchanged
	// Created Deployment.apps default/web
	// Recreating Deployment.apps default/web, waiting for Deployment.apps default/web
	// Created Deployment.apps default/web
}

// A ClusterRole of a namespaced owner: no garbage collection reaches it, so the owner waits for its deletion.
func ExampleElsewhere() {
	c, ctx := newCluster(), context.Background()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "blog-default"}}
	pass := func() { say(c.engine.For(c.owner).Object(role, builder.Elsewhere()).Reconcile(ctx)) }
	pass()
	c.get(c.owner)
	fmt.Println(c.owner.Finalizers)

	_ = c.Delete(ctx, c.owner)
	c.get(c.owner)
	pass()
	// Output:
	// Created ClusterRole.rbac.authorization.k8s.io blog-default
	// [armature.dev/cleanup]
	// Deleted ClusterRole.rbac.authorization.k8s.io blog-default
}

// What is ready by a rule of one's own.
func ExampleReadyWhen() {
	c := newCluster()
	seeded := builder.ReadyWhen(func(child client.Object) (bool, string) {
		return child.(*corev1.ConfigMap).Data["seeds"] != "", "it has no seeds yet"
	})
	res, err := c.engine.For(c.owner).ConfigMap(settings(nil), seeded).Reconcile(context.Background())
	fmt.Println(res.NotReady[0], err)
	// Output: ConfigMap default/settings: it has no seeds yet <nil>
}

// Objects of kinds without a Go type are wanted as unstructured ones.
func ExampleBuilder_Object() {
	c := newCluster()
	want := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "settings"},
		"data":     map[string]any{"colour": "blue"},
	}}
	say(c.engine.For(c.owner).Object(want).Reconcile(context.Background()))
	// Output: Created ConfigMap default/settings
}

// A child that is in a phase is changed when its turn comes.
func ExampleInPhase() {
	child := builder.Want(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "broker"}}, builder.InPhase("broker"))
	plan := builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{child}, Phases: []string{"broker", "server"}}
	fmt.Println(plan.Children[0].Object().GetName(), plan.Phases)
	// Output: broker [broker server]
}
