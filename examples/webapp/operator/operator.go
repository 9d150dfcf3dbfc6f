// Package operator is the whole WebApp operator: its Plan returns the desired children and the status, Operator declares the watches.
package operator

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

// Plan returns the desired children of a WebApp, and its status.
func Plan(app *v1.WebApp, view builder.View) builder.Plan[*v1.WebApp] {
	children := []builder.Child{
		builder.Want(greeting(app)), // a ConfigMap
		builder.Want(servers(app)),  // a Deployment
		builder.Want(service(app)),  // a Service
	}
	if ptr.Deref(app.Spec.Replicas, 1) > 1 { // the budget of a single server would protect nothing
		children = append(children, builder.Want(budget(app)))
	}
	after := app.DeepCopy()
	after.Status.ReadyReplicas = 0 // without a Deployment
	if deployment, ok := builder.Lookup[*appsv1.Deployment](view, app.Name); ok {
		after.Status.ReadyReplicas = deployment.Status.ReadyReplicas
	}
	return builder.Plan[*v1.WebApp]{
		Children: children,
		Prune:    []client.Object{&policyv1.PodDisruptionBudget{}}, // deleted when it is no longer desired
		Status:   after,
		Report:   true, // the conditions Ready, Progressing and Stalled
	}
}

// Setup lets a manager run WebApps.
func Setup(mgr manager.Manager) error { return Operator(mgr).Complete() }

// Operator describes the operator; tests run it without a manager.
func Operator(mgr manager.Manager) *builder.Operator[*v1.WebApp] {
	return builder.NewOperator[*v1.WebApp](mgr, "webapp").
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Plan(Plan)
}
