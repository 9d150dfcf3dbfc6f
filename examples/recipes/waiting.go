package recipes

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

// Waiting is an operator that starts the servers once their certificate is there. Until then the condition Ready is False
// with the reason Waiting and the message "waiting for Secret shop/web-tls". When the Secret appears, the plan runs again.
func Waiting(mgr manager.Manager) *builder.Operator[*v1.WebApp] {
	return builder.NewOperator[*v1.WebApp](mgr, "waiting").
		Owns(&appsv1.Deployment{}).
		Watches(&corev1.Secret{}, builder.ReferencedBy(func(app *v1.WebApp) []string { return []string{certificate(app)} })).
		Plan(planWaiting)
}

func certificate(app *v1.WebApp) string { return app.Name + "-tls" }

func planWaiting(app *v1.WebApp, view builder.View) builder.Plan[*v1.WebApp] {
	plan := builder.Plan[*v1.WebApp]{Report: true}
	if _, ok := builder.Lookup[*corev1.Secret](view, certificate(app)); !ok {
		plan.WaitingFor = []string{"Secret " + app.Namespace + "/" + certificate(app)}
		return plan // servers that run already go on: nothing is pruned
	}
	plan.Children = []builder.Child{builder.Want(servers(app))}
	return plan
}
