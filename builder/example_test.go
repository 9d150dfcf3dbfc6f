package builder_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
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
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
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

// websites is a reconciler that does more than a plan can say.
type websites struct {
	client client.Client
	engine *builder.Engine // builder.EngineFor(mgr, "website")
}

func (r *websites) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	site := &corev1.ConfigMap{}
	if err := r.client.Get(ctx, req.NamespacedName, site); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	res, err := r.engine.For(site).
		Deployment(server(site)).
		Prune(&appsv1.Deployment{}).
		Reconcile(ctx)
	return reconcile.Result{RequeueAfter: res.RequeueAfter}, err
}

// A Builder in a reconciler of one's own.
func ExampleEngine_For() {
	var _ reconcile.Reconciler = &websites{}
}

// A broker is changed before the servers that use it; a change that isn't ready after ten minutes is taken back.
func ExampleBuilder_Phases() {
	_ = func(ctx context.Context, engine *builder.Engine, owner client.Object, broker *appsv1.StatefulSet, server *appsv1.Deployment) error {
		res, err := engine.For(owner).
			StatefulSet(broker, builder.InPhase("broker")).
			Deployment(server, builder.InPhase("server")).
			Phases("broker", "server").
			OnFailure(builder.Rollback(10 * time.Minute)).
			Reconcile(ctx)
		if res.Halted != nil {
			fmt.Println(res.Halted) // phase broker: StatefulSet.apps default/broker: ...
		}
		return err
	}
}

// What is ready by a rule of one's own.
func ExampleReadyWhen() {
	seeded := builder.ReadyWhen(func(child client.Object) (bool, string) {
		n := child.(*corev1.ConfigMap).Data["seeds"]
		return n != "", "it has no seeds yet"
	})
	child := builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "topology"}}, seeded, builder.InPhase("broker"))
	fmt.Println(child.Object().GetName())
	// Output: topology
}

// A reconciler of one's own writes the standard conditions in one patch, or in none if they are so already.
func ExampleEngine_ReportStatus() {
	_ = func(ctx context.Context, engine *builder.Engine, flow *v1alpha1.JobFlow, server *appsv1.Deployment) error {
		res, err := engine.For(flow).Deployment(server).AwaitReady().Reconcile(ctx)
		return errors.Join(err, engine.ReportStatus(ctx, flow, res, err))
	}
}

// A plan is tested without a cluster.
func ExampleNewView() {
	site := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "blog", Labels: map[string]string{"example.com/website": ""}}}
	seen := builder.NewView(time.Now(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "blog"}})
	for _, child := range plan(site, seen).Children {
		fmt.Printf("%T %s\n", child.Object(), child.Object().GetName())
	}
	// Output: *v1.Deployment blog
}

// What exists is found in the view, by its Go type.
func ExampleOwned() {
	seen := builder.NewView(time.Now(),
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
	for _, job := range builder.Owned[*batchv1.Job](seen) {
		fmt.Println(job.Name)
	}
	// Output:
	// a
	// b
}
