package builder_test

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/builder/rollout"
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

// An object that exists, and that no one controls, becomes a child.
func ExampleAdopt() {
	orphan := settings(map[string]string{"colour": "red"})
	orphan.Namespace = "default"
	c, ctx := newCluster(orphan), context.Background()
	want := settings(map[string]string{"colour": "blue"})

	_, err := c.engine.For(c.owner).ConfigMap(want).Reconcile(ctx)
	fmt.Println(errors.Is(err, builder.ErrNotOwned))
	say(c.engine.For(c.owner).ConfigMap(want, builder.Adopt(builder.AdoptOptions{})).Reconcile(ctx))
	// Output:
	// true
	// Adopted ConfigMap default/settings
}

// A Deployment's selector can't be changed. By default that is an error, which names the field; with
// RecreateImmutable the Deployment makes way for a new one, and its pods go with it; with KeepImmutable it stays.
func ExampleRecreateImmutable() {
	for _, options := range [][]builder.ChildOption{
		{}, {builder.KeepImmutable()}, {builder.RecreateImmutable(metav1.DeletePropagationBackground)},
	} {
		c, ctx := newCluster(), context.Background()
		say(c.engine.For(c.owner).Deployment(web("nginx:1.29")).Reconcile(ctx))
		changed := web("nginx:1.29")
		changed.Spec.Selector.MatchLabels = map[string]string{"app": "website"}
		changed.Spec.Template.Labels = changed.Spec.Selector.MatchLabels

		res, err := c.engine.For(c.owner).Deployment(changed, options...).Reconcile(ctx)
		if about := (*builder.Error)(nil); errors.As(err, &about) {
			fmt.Println(about.Key, about.Fields(), errors.Is(err, builder.ErrImmutable))
			continue
		}
		say(res, err)
		say(c.engine.For(c.owner).Deployment(changed, options...).Reconcile(ctx))
	}
	// Output:
	// Created Deployment.apps default/web
	// Deployment.apps default/web [spec.selector.matchLabels.app] true
	// Created Deployment.apps default/web
	// 1 unchanged
	// 1 unchanged
	// Created Deployment.apps default/web
	// Recreating Deployment.apps default/web, waiting for Deployment.apps default/web
	// Created Deployment.apps default/web
}

// A ClusterRole of a namespaced owner: no garbage collection reaches it, so the owner waits for its deletion.
func ExampleCrossNamespace() {
	c, ctx := newCluster(), context.Background()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "blog-default"}}
	pass := func() { say(c.engine.For(c.owner).Object(role, builder.CrossNamespace()).Reconcile(ctx)) }
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
	seeded := builder.ReadyWhen(func(child client.Object) readiness.Status {
		return readiness.Status{Ready: child.(*corev1.ConfigMap).Data["seeds"] != "", Message: "it has no seeds yet"}
	})
	res, err := c.engine.For(c.owner).ConfigMap(settings(nil), seeded).Reconcile(context.Background())
	fmt.Println(res.Pending[0], err)
	// Output: ConfigMap default/settings: it has no seeds yet <nil>
}

// A StatefulSet never says that its pods crash. The plan, which sees the pods, does, and leaves the rest to the rules.
func ExampleReadyWhen_crashing() {
	c, crashing := newCluster(), "web-0"
	check := builder.ReadyWhen(func(child client.Object) readiness.Status {
		if crashing != "" {
			return readiness.Status{Failed: true, Message: "pod " + crashing + ": CrashLoopBackOff"}
		}
		return readiness.Of(child)
	})
	res, err := c.engine.For(c.owner).Deployment(web("app:1"), check).Reconcile(context.Background())
	fmt.Println(res.Pending[0], err)
	// Output: Deployment.apps default/web: pod web-0: CrashLoopBackOff <nil>
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
	plan := builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{child}, Rollout: rollout.Options{Phases: []string{"broker", "server"}}}
	fmt.Println(plan.Children[0].Object().GetName(), plan.Rollout.Phases)
	// Output: broker [broker server]
}

// Only what a predecessor has left behind is taken over, and nothing that others have labelled alike. Its field managers lose what isn't
// desired.
func ExampleAdopt_labels() {
	left, other := settings(nil), settings(nil)
	left.Namespace, left.Labels = "default", map[string]string{"app.kubernetes.io/managed-by": "predecessor"}
	other.Namespace, other.Name, other.Labels = "default", "others", left.Labels
	c, ctx := newCluster(other), context.Background()
	if err := c.Create(ctx, left, client.FieldOwner("predecessor")); err != nil {
		panic(err)
	}

	adopt := builder.Adopt(builder.AdoptOptions{Labels: left.Labels, FormerManagers: []string{"predecessor"}})
	say(c.engine.For(c.owner).ConfigMap(settings(nil), adopt).Reconcile(ctx))
	wanted := settings(nil)
	wanted.Name = "others"
	_, err := c.engine.For(c.owner).ConfigMap(wanted, adopt).Reconcile(ctx)
	fmt.Println(errors.Is(err, builder.ErrNotOwned))
	// Output:
	// Adopted ConfigMap default/settings
	// true
}

// The data stays when the owner goes, and an owner of the same name takes it up again.
func ExampleRetain() {
	c, ctx := newCluster(), context.Background()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	say(c.engine.For(c.owner).Object(claim, builder.Retain()).Reconcile(ctx))
	say(c.engine.For(c.owner).PruneAll().Reconcile(ctx)) // it is no longer wanted

	found := claim.DeepCopy()
	c.get(found)
	fmt.Println(len(found.OwnerReferences), found.Annotations["armature.dev/owner"])
	// Output:
	// Created PersistentVolumeClaim default/data
	// 0 default/blog
}

// A child that is rendered once and wanted in each pass costs next to nothing while it is unchanged.
func ExampleChild_Immutable() {
	rendered := map[string]builder.Child{}
	render := func(colour string) builder.Child {
		if _, ok := rendered[colour]; !ok {
			rendered[colour] = builder.Want(settings(map[string]string{"colour": colour})).Immutable()
		}
		return rendered[colour]
	}
	first, again, other := render("blue"), render("blue"), render("red")
	fmt.Println(first.Object() == again.Object(), first.Object() == other.Object())
	// Output: true false
}
