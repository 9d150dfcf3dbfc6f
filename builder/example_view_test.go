package builder_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// All nodes of the cluster, for an operator that watches them with SeenByAll.
func ExampleWatched() {
	seen := buildertest.WithWatched(buildertest.NewView(time.Now()),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
	)
	for _, node := range builder.Watched[*corev1.Node](seen) {
		fmt.Println(node.Name)
	}
	// Output:
	// a
	// b
}

// A child with a fixed name.
func ExampleLookup() {
	seen := buildertest.NewView(time.Now(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Status: appsv1.DeploymentStatus{ReadyReplicas: 2},
	})
	if deployment, ok := builder.Lookup[*appsv1.Deployment](seen, "web"); ok {
		fmt.Println(deployment.Status.ReadyReplicas)
	}
	_, ok := builder.Lookup[*appsv1.Deployment](seen, "cache")
	fmt.Println(ok)
	// Output:
	// 2
	// false
}

// Pods that say by a label which site they serve. They need not be the operator's own.
func ExampleReferencing() {
	operator := builder.NewOperator[*corev1.ConfigMap](nil, "website").
		Watches(&corev1.Pod{}, builder.Referencing(func(pod *corev1.Pod) []string {
			return []string{pod.Labels["example.com/site"]}
		})).
		Plan(func(site *corev1.ConfigMap, seen builder.View) builder.Plan[*corev1.ConfigMap] {
			status := site.DeepCopy()
			status.Data["pods"] = fmt.Sprint(len(builder.Watched[*corev1.Pod](seen)))
			return builder.Plan[*corev1.ConfigMap]{Status: status}
		})
	_ = operator // give NewOperator a manager, and call Complete
}

// visitors is what an operator learns from outside of the cluster.
type visitors struct{ perSecond int }

// A plan that depends on what was measured is as pure as any other.
func ExampleExternal() {
	plan := func(site *corev1.ConfigMap, seen builder.View) builder.Plan[*corev1.ConfigMap] {
		d := server(site)
		if v, ok := builder.External[visitors](seen); ok {
			replicas := int32(1 + v.perSecond/100)
			d.Spec.Replicas = &replicas
		}
		return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{builder.Want(d)}, RequeueAfter: time.Minute}
	}
	seen := buildertest.WithExternal(buildertest.NewView(time.Now()), visitors{perSecond: 250})
	fmt.Println(*plan(&corev1.ConfigMap{}, seen).Children[0].Object().(*appsv1.Deployment).Spec.Replicas)
	// Output: 3
}

// An operator that asks a server how many visitors a site has, before each plan.
func ExampleOperator_External() {
	operator := builder.NewOperator[*corev1.ConfigMap](nil, "website").
		Owns(&appsv1.Deployment{}).
		External(func(ctx context.Context, site *corev1.ConfigMap, _ builder.View) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return ask(ctx, site.Data["statistics"]), nil
		}).
		Plan(plan)
	_ = operator // give NewOperator a manager, and call Complete
}

func ask(context.Context, string) visitors { return visitors{} }

// A thousand sites wait for a turn that one ConfigMap gives: a change of it enqueues those whose turn it has become.
func ExampleEnqueueFor() {
	turns := func(obj *corev1.ConfigMap) []string {
		if obj == nil {
			return nil
		}
		return []string{obj.Data["first"], obj.Data["second"]}
	}
	which := func(before, after *corev1.ConfigMap) (all bool, names []types.NamespacedName) {
		for _, site := range turns(after) {
			if !slices.Contains(turns(before), site) {
				names = append(names, types.NamespacedName{Namespace: after.GetNamespace(), Name: site})
			}
		}
		return false, names
	}
	operator := builder.NewOperator[*corev1.Service](nil, "website").
		Watches(&corev1.ConfigMap{}, builder.ReferencedBy(func(*corev1.Service) []string { return []string{"turns"} }), builder.EnqueueFor(which))
	_ = operator // give it a plan, give NewOperator a manager, and call Complete

	before := &corev1.ConfigMap{Data: map[string]string{"first": "blog", "second": "shop"}}
	after := &corev1.ConfigMap{Data: map[string]string{"first": "shop", "second": "wiki"}}
	after.Namespace = "default"
	fmt.Println(which(before, after))
	// Output: false [default/wiki]
}
