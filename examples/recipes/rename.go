package recipes

import (
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/readiness"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

// Renamed is an operator whose earlier versions called the Deployment as the app. It keeps the old one until the new one is ready, and
// then prunes it. Both have the app's labels, which its Service selects. The new one also selects a label of its own, so
// that it counts no pods of the old one.
func Renamed(mgr manager.Manager) *builder.Operator[*v1.WebApp] {
	return builder.NewOperator[*v1.WebApp](mgr, "renamed").Owns(&appsv1.Deployment{}).Plan(planRenamed)
}

func planRenamed(app *v1.WebApp, view builder.View) builder.Plan[*v1.WebApp] {
	renamed := servers(app)
	renamed.Name = app.Name + "-servers"
	renamed.Spec.Selector.MatchLabels["app.kubernetes.io/component"] = "servers"
	renamed.Spec.Template.Labels["app.kubernetes.io/component"] = "servers"
	plan := builder.Plan[*v1.WebApp]{
		Report:   true,
		Children: []builder.Child{builder.Want(renamed)},
		Prune:    []client.Object{&appsv1.Deployment{}},
	}
	found, _ := builder.Lookup[*appsv1.Deployment](view, renamed.Name)
	if _, exists := builder.Lookup[*appsv1.Deployment](view, app.Name); exists && !readiness.Of(found).Ready {
		plan.Children = append(plan.Children, builder.Want(servers(app))) // as the former version desired it
	}
	return plan
}
