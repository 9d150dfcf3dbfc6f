package builder_test

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

// A ConfigMap labelled as a website gets a Deployment that serves it. Any kind can be an owner; most operators have
// one of their own.
func plan(site *corev1.ConfigMap, _ builder.View) builder.Plan[*corev1.ConfigMap] {
	var children []builder.Child
	if _, ok := site.Labels["example.com/website"]; ok {
		children = append(children, builder.Want(server(site)))
	}
	return builder.Plan[*corev1.ConfigMap]{Children: children, Prune: []client.Object{&appsv1.Deployment{}}}
}

func server(site *corev1.ConfigMap) *appsv1.Deployment {
	labels := map[string]string{"app": site.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: site.Name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{
						Name: "nginx", Image: "nginx:1.29",
						VolumeMounts: []corev1.VolumeMount{{Name: "site", MountPath: "/usr/share/nginx/html"}},
					}},
					Volumes: []corev1.Volume{{Name: "site", VolumeSource: corev1.VolumeSource{
						ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: site.Name}},
					}}},
				},
			},
		},
	}
}

// A whole operator: a plan, and this.
func ExampleNewOperator() {
	mgr, err := ctrl.NewManager(config.GetConfigOrDie(), ctrl.Options{
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	})
	if err != nil {
		panic(err)
	}
	err = builder.NewOperator[*corev1.ConfigMap](mgr, "website").
		Owns(&appsv1.Deployment{}).
		Plan(plan).
		Complete()
	if err != nil {
		panic(err)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}

// An operator's loop runs in a test as it does in a cluster.
func ExampleOperator() {
	site := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "blog", Labels: map[string]string{"example.com/website": ""},
	}}
	c := buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(site)).Client("website")
	operator := builder.NewOperator[*corev1.ConfigMap](nil, "website").
		Owns(&appsv1.Deployment{}).
		Plan(plan)
	loop, err := buildertest.NewReconciler(operator, c, c.Now)
	if err != nil {
		panic(err)
	}
	_, err = loop.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(site)})
	fmt.Println(c.Ledger().Writes(), err)
	// Output: [create Deployment.apps default/blog] <nil>
}

// What an operator watches: its children, those elsewhere, and what its owners name in their specs.
func ExampleReferencedBy() {
	setUp := func(mgr manager.Manager) error {
		return builder.NewOperator[*corev1.ConfigMap](mgr, "website").
			Owns(&appsv1.Deployment{}).
			Owns(&rbacv1.ClusterRole{}, builder.CrossNamespace()).
			Watches(&corev1.Secret{}, builder.ReferencedBy(func(site *corev1.ConfigMap) []string { return []string{site.Data["certificate"]} })).
			Plan(plan).
			Complete()
	}
	_ = setUp
}

// The operator's role needs the verb get of Secrets, and neither list nor watch.
func ExampleByName() {
	operator := builder.NewOperator[*corev1.ConfigMap](nil, "website").
		Owns(&corev1.Secret{}, builder.ByName(func(site *corev1.ConfigMap) []string { return []string{site.Name + "-key"} })).
		Plan(plan)
	_ = operator // give NewOperator a manager, and call Complete
}

// A plan is tested without a cluster.
func ExampleView() {
	site := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "blog", Labels: map[string]string{"example.com/website": ""}}}
	view := buildertest.NewView(time.Now(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "blog"}})
	for _, child := range plan(site, view).Children {
		fmt.Printf("%T %s\n", child.Object(), child.Object().GetName())
	}
	// Output: *v1.Deployment blog
}

// What exists is found in the view, by its Go type.
func ExampleOwned() {
	view := buildertest.NewView(time.Now(),
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
	for _, job := range builder.Owned[*batchv1.Job](view) {
		fmt.Println(job.Name)
	}
	// Output:
	// a
	// b
}

// So is an object that the owner's spec names, if it exists.
func ExampleLookup_watched() {
	view := buildertest.WithWatched(buildertest.NewView(time.Now()), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "tls"}})
	for _, name := range []string{"tls", "other"} {
		_, ok := builder.Lookup[*corev1.Secret](view, name)
		fmt.Println(name, ok)
	}
	// Output:
	// tls true
	// other false
}

// A plan that has the standard conditions reported, tells of what happened, and looks again in a minute.
func ExamplePlan() {
	decide := func(site *corev1.ConfigMap, view builder.View) builder.Plan[*corev1.ConfigMap] {
		plan := builder.Plan[*corev1.ConfigMap]{
			Children:     []builder.Child{builder.Want(server(site))},
			PruneAll:     true,
			RequeueAfter: time.Minute,
		}
		if len(builder.Owned[*appsv1.Deployment](view)) == 0 {
			plan.Events = append(plan.Events, events.Normal("Opening", "the site is being set up"))
		}
		return plan
	}
	plan := decide(&corev1.ConfigMap{}, buildertest.NewView(time.Now()))
	fmt.Println(len(plan.Children), plan.Events[0].Reason, plan.RequeueAfter)
	// Output: 1 Opening 1m0s
}
