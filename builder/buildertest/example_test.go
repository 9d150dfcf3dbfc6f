package buildertest_test

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
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
		Objects:  []client.Object{configMap("owner")},
		Requests: []reconcile.Request{request("owner")},
		World:    buildertest.CompleteJobs,
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return builder.NewOperator[*corev1.ConfigMap](nil, "example").
				Owns(&batchv1.Job{}).
				Plan(plan).
				Reconciler(c, c.Now)
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
		Objects:  []client.Object{configMap("owner")},
		Requests: []reconcile.Request{request("owner")},
		World:    buildertest.CompleteJobs,
		Lag:      2,
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return builder.NewOperator[*corev1.ConfigMap](nil, "example").Owns(&batchv1.Job{}).Plan(plan).Reconciler(c, c.Now)
		},
	})
}
