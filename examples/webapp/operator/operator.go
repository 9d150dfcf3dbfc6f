// Package operator is the whole of the WebApp operator: what should exist for a WebApp, and what to watch.
package operator

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

// Setup lets a manager run WebApps.
func Setup(mgr manager.Manager) error {
	return builder.NewOperator[*v1.WebApp](mgr, "webapp").
		Owns(&corev1.ConfigMap{}, &appsv1.Deployment{}, &corev1.Service{}, &policyv1.PodDisruptionBudget{}).
		Plan(Plan).
		Complete()
}

// Plan says what should exist for a WebApp, and what its status is.
func Plan(app *v1.WebApp, seen builder.View) builder.Plan[*v1.WebApp] {
	children := []builder.Child{
		builder.Want(greeting(app)),
		builder.Want(servers(app)),
		builder.Want(service(app)),
	}
	if ptr.Deref(app.Spec.Replicas, 1) > 1 { // of a single server, a budget would only keep its node from being drained
		children = append(children, builder.Want(budget(app)))
	}
	return builder.Plan[*v1.WebApp]{
		Children: children,
		Prune:    []client.Object{&policyv1.PodDisruptionBudget{}},
		Status:   observed(app, seen),
	}
}

// observed returns the app with the status that what exists gives it.
func observed(app *v1.WebApp, seen builder.View) *v1.WebApp {
	after := app.DeepCopy()
	after.Status.ReadyReplicas = 0
	ready := builder.Condition{
		Type: builder.ConditionReady, Status: metav1.ConditionFalse, Reason: "Starting",
		Message: "not all servers are there", ObservedGeneration: app.Generation,
	}
	for _, d := range builder.Owned[*appsv1.Deployment](seen) {
		after.Status.ReadyReplicas = d.Status.ReadyReplicas
		want, s := ptr.Deref(app.Spec.Replicas, 1), d.Status
		isCurrent := s.ObservedGeneration == d.Generation && ptr.Deref(d.Spec.Replicas, 1) == want
		if isCurrent && s.Replicas == want && s.UpdatedReplicas == want && s.AvailableReplicas == want {
			ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, "Serving", "all servers are there"
		}
	}
	meta.SetStatusCondition(&after.Status.Conditions, ready)
	return after
}
