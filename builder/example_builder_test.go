package builder_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// One pass over one owner. A second one finds nothing to do, and makes no request.
func ExampleEngine_For() {
	c, ctx := newCluster(), context.Background()
	for range 2 {
		say(c.engine.For(c.owner).
			ConfigMap(settings(map[string]string{"colour": "blue"})).
			Deployment(web("nginx:1.29")).
			Prune(&corev1.ConfigMap{}, &appsv1.Deployment{}).
			Reconcile(ctx))
	}
	fmt.Println(len(c.Ledger().Writes()), "requests")
	// Output:
	// Created ConfigMap default/settings, Created Deployment.apps default/web
	// 2 unchanged
	// 2 requests
}

// What the owner has of a kind, and no longer wants, is deleted.
func ExampleBuilder_Prune() {
	c, ctx := newCluster(), context.Background()
	say(c.engine.For(c.owner).ConfigMap(settings(nil)).Deployment(web("nginx:1.29")).Reconcile(ctx))
	say(c.engine.For(c.owner).Deployment(web("nginx:1.29")).Prune(&corev1.ConfigMap{}).Reconcile(ctx))
	// Output:
	// Created ConfigMap default/settings, Created Deployment.apps default/web
	// Deleted ConfigMap default/settings, 1 unchanged
}

// Everything that the owner ever had and no longer wants goes, also of kinds that the program no longer names.
func ExampleBuilder_PruneAll() {
	c, ctx := newCluster(), context.Background()
	say(c.engine.For(c.owner).ConfigMap(settings(nil)).Deployment(web("nginx:1.29")).PruneAll().Reconcile(ctx))
	c.get(c.owner)
	fmt.Println(c.owner.Annotations["armature.dev/contains-group-kinds"])

	say(c.engine.For(c.owner).Deployment(web("nginx:1.29")).PruneAll().Reconcile(ctx))
	// Output:
	// Created ConfigMap default/settings, Created Deployment.apps default/web
	// ConfigMap,Deployment.apps
	// Deleted ConfigMap default/settings, 1 unchanged
}

// Single children, now. Objects that aren't the owner's are left alone.
func ExampleBuilder_Get() {
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "theirs"}}
	c, ctx := newCluster(theirs), context.Background()
	b := c.engine.For(c.owner)

	say(b.Create(ctx, settings(map[string]string{"colour": "blue"})))
	found := &corev1.ConfigMap{}
	fmt.Println(b.Get(ctx, "settings", found), found.Data)
	fmt.Println(errors.Is(b.Get(ctx, "theirs", &corev1.ConfigMap{}), builder.ErrNotOwned))

	list := &corev1.ConfigMapList{}
	fmt.Println(b.List(ctx, list), len(list.Items))
	say(b.Delete(ctx, settings(nil)))
	// Output:
	// Created ConfigMap default/settings
	// <nil> map[colour:blue]
	// true
	// <nil> 1
	// Deleted ConfigMap default/settings
}

// Create refuses what exists, and Update what doesn't.
func ExampleBuilder_Create() {
	c, ctx := newCluster(), context.Background()
	b := c.engine.For(c.owner)
	_, err := b.Update(ctx, settings(nil))
	fmt.Println(apierrors.IsNotFound(err))
	say(b.Create(ctx, settings(nil)))
	_, err = b.Create(ctx, settings(nil))
	fmt.Println(apierrors.IsAlreadyExists(err))
	// Output:
	// true
	// Created ConfigMap default/settings
	// true
}

// What a pass would do, before it does it: for a command that shows it, or an operator that asks first.
func ExampleBuilder_Diff() {
	c, ctx := newCluster(), context.Background()
	say(c.engine.For(c.owner).ConfigMap(settings(nil)).Deployment(web("nginx:1.29")).Reconcile(ctx))

	next := web("nginx:1.30")
	next.Spec.Replicas = ptr.To[int32](3)
	diff, err := c.engine.For(c.owner).Deployment(next).Prune(&corev1.ConfigMap{}).Diff(ctx)
	fmt.Print(diff)
	fmt.Println(err)
	// Output:
	// Created ConfigMap default/settings, Created Deployment.apps default/web
	// ~ Deployment.apps default/web
	// -     spec.replicas: 1
	// +     spec.replicas: 3
	// -     spec.template.spec.containers[name=web].image: "nginx:1.29"
	// +     spec.template.spec.containers[name=web].image: "nginx:1.30"
	// - ConfigMap default/settings
	// <nil>
}

// A result is data. Printed it reads as a diff.
func ExampleResult_String() {
	diff := builder.Result{Changes: []builder.Change{{
		Reason: events.ReasonUpdated,
		Fields: []builder.FieldDiff{{Path: "spec.replicas", Old: 2, New: 3}},
	}}}
	diff.Changes[0].Key.Kind, diff.Changes[0].Key.Namespace, diff.Changes[0].Key.Name = "Deployment", "default", "web"
	fmt.Print(diff)
	// Output:
	// ~ Deployment default/web
	// -     spec.replicas: 2
	// +     spec.replicas: 3
}

// A pass that tells which children aren't ready yet, by the rules of kstatus.
func ExampleResult_pending() {
	c, ctx := newCluster(), context.Background()
	pass := func() (builder.Result, error) {
		return c.engine.For(c.owner).Deployment(web("nginx:1.29")).Reconcile(ctx)
	}
	res, _ := pass()
	fmt.Println(res.Pending)
	c.settle() // what the cluster does
	res, _ = pass()
	fmt.Println(res.Pending)
	// Output:
	// [Deployment.apps default/web: generation 1 is not observed yet]
	// []
}

// The broker is changed before the servers that use it.
func ExampleBuilder_Rollout() {
	c, ctx := newCluster(), context.Background()
	pass := func(image string) {
		broker := web(image)
		broker.Name = "broker"
		res, err := c.engine.For(c.owner).
			Deployment(broker, builder.InPhase("broker")).
			Deployment(web(image), builder.InPhase("server")).
			Rollout(rollout.Options{Phases: []string{"broker", "server"}}).
			Reconcile(ctx)
		say(res, err)
		fmt.Println("-", res.Rollout.State)
		for _, child := range res.Pending {
			fmt.Println("  ", child)
		}
	}
	pass("app:1") // the first install is at once
	c.settle()
	pass("app:1")
	pass("app:2") // from then on the next phase waits for the last
	c.settle()
	pass("app:2")
	// Output:
	// Created Deployment.apps default/broker, Created Deployment.apps default/web
	// - Installing
	//    Deployment.apps default/broker: generation 1 is not observed yet
	//    Deployment.apps default/web: generation 1 is not observed yet
	// 2 unchanged
	// - Completed
	// Updated Deployment.apps default/broker, 1 unchanged
	// - Progressing
	//    Deployment.apps default/broker: generation 2 is not observed yet
	//    Deployment.apps default/web: its change waits for earlier phases
	// Updated Deployment.apps default/web, 1 unchanged
	// - Progressing
	//    Deployment.apps default/web: generation 2 is not observed yet
}

// A change that isn't ready after ten minutes is taken back. The owner isn't edited.
func ExampleBuilder_Rollout_rollback() {
	c, ctx := newCluster(), context.Background()
	pass := func(image string) {
		res, err := c.engine.For(c.owner).
			Deployment(web(image), builder.InPhase("server")).
			Rollout(rollout.Options{Phases: []string{"server"}, RollbackAfter: 10 * time.Minute}).
			Reconcile(ctx)
		say(res, err)
		fmt.Println("-", res.Rollout.State)
	}
	pass("app:1")
	c.settle()
	pass("app:1")
	pass("app:broken")
	c.server.Clock().Step(11 * time.Minute)
	pass("app:broken")
	pass("app:broken")
	found := web("")
	c.get(found)
	fmt.Println(found.Spec.Template.Spec.Containers[0].Image)
	// Output:
	// Created Deployment.apps default/web
	// - Installing
	// 1 unchanged
	// - Completed
	// Updated Deployment.apps default/web
	// - Progressing
	// 1 unchanged
	// - RolledBack
	// Updated Deployment.apps default/web
	// - RolledBack
	// app:1
}

// A change that doesn't become ready in time is reported, and left as it is for someone to look at.
func ExampleBuilder_Rollout_alert() {
	c, ctx := newCluster(), context.Background()
	pass := func(image string) {
		res, _ := c.engine.For(c.owner).
			Deployment(web(image), builder.InPhase("server")).
			Rollout(rollout.Options{Phases: []string{"server"}, AlertAfter: 10 * time.Minute}).
			Reconcile(ctx)
		failed := "nothing"
		for _, child := range res.Pending {
			if child.Reason == events.ReasonRolloutHalted {
				failed = child.Key.Name
			}
		}
		fmt.Println(res.Rollout.State, "- failed child:", failed)
	}
	pass("app:1")
	c.settle()
	pass("app:1")
	pass("app:slow")
	c.server.Clock().Step(11 * time.Minute)
	pass("app:slow")
	// Output:
	// Installing - failed child: nothing
	// Completed - failed child: nothing
	// Progressing - failed child: nothing
	// Progressing - failed child: web
}
