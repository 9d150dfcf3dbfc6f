package buildertest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

func ExampleNewServer() {
	ctx := context.Background()
	c := buildertest.NewServer(scheme.Scheme).Client("me")

	web := deployment("web", "nginx")
	fmt.Println(c.Create(ctx, web))
	fmt.Println("generation", web.Generation, "replicas", *web.Spec.Replicas)

	web.Spec.Selector.MatchLabels["app"] = "other"
	web.Spec.Template.Labels["app"] = "other"
	fmt.Println(apierrors.IsInvalid(c.Update(ctx, web)))
	// Output:
	// <nil>
	// generation 1 replicas 1
	// true
}

func ExampleServer_Ledger() {
	ctx := context.Background()
	server := buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(configMap("owner")))
	c := server.Client("me")
	owner := configMap("owner")
	if err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner); err != nil {
		panic(err)
	}

	engine := builder.NewEngine(c, builder.Options{Name: "me"})
	for range 3 {
		if _, err := engine.For(owner).ConfigMap(configMap("settings")).Reconcile(ctx); err != nil {
			panic(err)
		}
	}
	fmt.Println(server.Ledger().Count(buildertest.VerbCreate, schema.GroupKind{Kind: "ConfigMap"}))
	fmt.Println(server.Ledger().Writes())
	// Output:
	// 1
	// [create ConfigMap default/settings]
}

func ExampleClient_Fail() {
	ctx := context.Background()
	c := buildertest.NewServer(scheme.Scheme).Client("me")
	c.Fail(buildertest.Fault{
		Verb: buildertest.VerbCreate, Kind: schema.GroupKind{Kind: "ConfigMap"},
		After: 1, Times: 1, Error: buildertest.Conflict,
	})
	for _, name := range []string{"a", "b", "c"} {
		fmt.Println(name, apierrors.IsConflict(c.Create(ctx, configMap(name))))
	}
	// Output:
	// a false
	// b true
	// c false
}

func ExampleClient_Lag() {
	ctx := context.Background()
	server := buildertest.NewServer(scheme.Scheme)
	c := server.Client("me")
	_ = c.Lag(1)
	_ = server.Client("someone").Create(ctx, configMap("new"))

	key := types.NamespacedName{Namespace: "default", Name: "new"}
	fmt.Println(c.Get(ctx, key, &corev1.ConfigMap{}))
	c.Refresh()
	fmt.Println(c.Get(ctx, key, &corev1.ConfigMap{}))
	// Output:
	// configmaps "new" not found
	// <nil>
}

func ExampleCrashEverywhere() {
	var t *testing.T // of your test
	scenario := buildertest.Scenario{
		Objects:  []client.Object{configMap("owner"), world.Node("n1")},
		Requests: []reconcile.Request{request("owner")},
		Cluster:  world.Cluster(world.Options{Pods: world.JobsSucceed}),
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			operator := builder.NewOperator[*corev1.ConfigMap](nil, "example").
				Owns(&batchv1.Job{}).
				Plan(plan)
			return buildertest.NewReconciler(operator, c, c.Now)
		},
	}
	if t != nil {
		buildertest.CrashEverywhere(t, scenario)
	}
}

// plan wants one Job.
func plan(owner *corev1.ConfigMap, _ builder.View) builder.Plan[*corev1.ConfigMap] {
	return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{builder.Want(jobOf(owner, "job"))}}
}

func TestCrashEverywhereOfAnOperator(t *testing.T) {
	buildertest.CrashEverywhere(t, buildertest.Scenario{
		Objects:  []client.Object{configMap("owner"), world.Node("n1")},
		Requests: []reconcile.Request{request("owner")},
		Cluster:  world.Cluster(world.Options{Pods: world.JobsSucceed}),
		Lag:      2,
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(builder.NewOperator[*corev1.ConfigMap](nil, "example").Owns(&batchv1.Job{}).Plan(plan), c, c.Now)
		},
	})
}

// A scenario run in peace: the server at its end is the test's to look at.
func ExampleSettle() {
	var t *testing.T // of your test
	if t == nil {
		return
	}
	server := buildertest.Settle(t, buildertest.Scenario{
		Objects:  []client.Object{configMap("owner"), world.Node("n1")},
		Requests: []reconcile.Request{request("owner")},
		Cluster:  world.Cluster(world.Options{Pods: world.JobsSucceed}),
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(builder.NewOperator[*corev1.ConfigMap](nil, "example").Owns(&batchv1.Job{}).Plan(plan), c, c.Now)
		},
	})
	for _, obj := range server.Objects() {
		fmt.Println(obj.GetName())
	}
}

// A process that dies after its second write. What it wrote stays; the next one is another client.
func ExampleClient_CrashAfter() {
	ctx := context.Background()
	server := buildertest.NewServer(scheme.Scheme)
	c := server.Client("me")
	c.CrashAfter(2)
	for _, name := range []string{"a", "b", "c"} {
		fmt.Println(name, c.Create(ctx, configMap(name)) == nil, c.Crashed())
	}
	fmt.Println(len(server.Objects()), "objects")
	// Output:
	// a true false
	// b true true
	// c false true
	// 2 objects
}

// A controller's cache that never hears of a deletion.
func ExampleClient_DropEvents() {
	ctx := context.Background()
	server := buildertest.NewServer(scheme.Scheme)
	c := server.Client("me")
	c.DropEvents(func(e buildertest.Event) bool { return e.Type == watch.Deleted })

	watching, err := c.Watch(ctx, &corev1.ConfigMapList{})
	if err != nil {
		panic(err)
	}
	defer watching.Stop()
	someone := server.Client("someone")
	_ = someone.Create(ctx, configMap("a"))
	_ = someone.Delete(ctx, configMap("a"))
	_ = someone.Create(ctx, configMap("b"))
	for range 2 {
		e := <-watching.ResultChan()
		fmt.Println(e.Type, e.Object.(*corev1.ConfigMap).Name)
	}
	// Output:
	// ADDED a
	// ADDED b
}

// The server's time stands still until it is stepped.
func ExampleClock_Step() {
	server := buildertest.NewServer(scheme.Scheme)
	c := server.Client("me")
	before := c.Now()
	server.Clock().Step(time.Hour)
	fmt.Println(c.Now().Sub(before))
	// Output: 1h0m0s
}

// The kinds of CustomResourceDefinitions: their scope, defaults, lists and status.
func ExampleWithCRDs() {
	types := runtime.NewScheme()
	_ = v1alpha1.AddToScheme(types)
	server := buildertest.NewServer(types, buildertest.WithCRDs("../../config/crd"))
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "flow"}}
	fmt.Println(server.Client("me").Create(context.Background(), flow))
	// Output: JobFlow.api.practice.com "flow" is invalid: spec.flows: Required value
}
