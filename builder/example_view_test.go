package builder_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// All nodes of the cluster, for an operator that watches them with ObservedByAll.
func ExampleWatched() {
	view := buildertest.WithWatched(buildertest.NewView(time.Now()),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
	)
	for _, node := range builder.Watched[*corev1.Node](view) {
		fmt.Println(node.Name)
	}
	// Output:
	// a
	// b
}

// One ConfigMap for all nodes of the cluster. A new node runs the plans of all owners.
func ExampleObservedByAll() {
	operator := builder.NewOperator[*corev1.ConfigMap](nil, "inventory").
		Watches(&corev1.Node{}, builder.ObservedByAll()).
		Owns(&corev1.ConfigMap{}).
		Plan(func(owner *corev1.ConfigMap, view builder.View) builder.Plan[*corev1.ConfigMap] {
			list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: owner.Name + "-nodes"}, Data: map[string]string{}}
			for _, node := range builder.Watched[*corev1.Node](view) {
				list.Data[node.Name] = node.Status.NodeInfo.KubeletVersion
			}
			return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{builder.Want(list)}}
		})
	view := buildertest.WithWatched(buildertest.NewView(time.Now()), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	plan, err := buildertest.PlanFor(operator, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, view)
	fmt.Println(plan.Children[0].Object().(*corev1.ConfigMap).Data, err)
	// Output: map[a:] <nil>
}

// The Pods of an owner's Jobs. An event of such a Pod runs the owner's plan, and Owned returns the Pod beside the children.
func ExampleDependents() {
	operator := builder.NewOperator[*corev1.ConfigMap](nil, "batch").
		Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{})).
		Plan(func(owner *corev1.ConfigMap, view builder.View) builder.Plan[*corev1.ConfigMap] {
			status := owner.DeepCopy()
			status.Data = map[string]string{"pods": fmt.Sprint(len(builder.Owned[*corev1.Pod](view)))}
			return builder.Plan[*corev1.ConfigMap]{Status: status}
		})
	view := buildertest.NewView(time.Now(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a-1"}})
	plan, err := buildertest.PlanFor(operator, &corev1.ConfigMap{}, view)
	fmt.Println(plan.Status.Data, err)
	// Output: map[pods:1] <nil>
}

// A child with a fixed name.
func ExampleLookup() {
	view := buildertest.NewView(time.Now(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Status: appsv1.DeploymentStatus{ReadyReplicas: 2},
	})
	if deployment, ok := builder.Lookup[*appsv1.Deployment](view, "web"); ok {
		fmt.Println(deployment.Status.ReadyReplicas)
	}
	_, ok := builder.Lookup[*appsv1.Deployment](view, "cache")
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
		Plan(func(site *corev1.ConfigMap, view builder.View) builder.Plan[*corev1.ConfigMap] {
			status := site.DeepCopy()
			status.Data["pods"] = fmt.Sprint(len(builder.Watched[*corev1.Pod](view)))
			return builder.Plan[*corev1.ConfigMap]{Status: status}
		})
	_ = operator // give NewOperator a manager, and call Complete
}

// visitors is what an operator learns from outside of the cluster.
type visitors struct{ perSecond int }

// A plan that depends on what was measured is as pure as any other.
func ExampleExternal() {
	plan := func(site *corev1.ConfigMap, view builder.View) builder.Plan[*corev1.ConfigMap] {
		d := server(site)
		if v, ok := builder.External[visitors](view); ok {
			replicas := int32(1 + v.perSecond/100)
			d.Spec.Replicas = &replicas
		}
		return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{builder.Want(d)}, RequeueAfter: time.Minute}
	}
	view := buildertest.WithExternal(buildertest.NewView(time.Now()), visitors{perSecond: 250})
	fmt.Println(*plan(&corev1.ConfigMap{}, view).Children[0].Object().(*appsv1.Deployment).Spec.Replicas)
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
