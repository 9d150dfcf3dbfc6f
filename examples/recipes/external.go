package recipes

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

// Backlog is the response of an external system: the number of tasks, or the error.
type Backlog struct {
	Tasks int32
	Down  string
}

// External is an operator with one server for each ten tasks of an external queue. The plan remains a pure function: the builder calls
// ask before it, and the view has the result.
func External(mgr manager.Manager, ask func(ctx context.Context, queue string) (int32, error)) *builder.Operator[*v1.WebApp] {
	return builder.NewOperator[*v1.WebApp](mgr, "external").
		Owns(&appsv1.Deployment{}).
		External(func(ctx context.Context, app *v1.WebApp, _ builder.View) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // the worker waits for the answer
			defer cancel()
			tasks, err := ask(ctx, app.Name)
			if err != nil {
				return Backlog{Down: err.Error()}, nil // the plan reports it; an error would fail the pass
			}
			return Backlog{Tasks: tasks}, nil
		}).
		Plan(planExternal)
}

func planExternal(app *v1.WebApp, view builder.View) builder.Plan[*v1.WebApp] {
	plan := builder.Plan[*v1.WebApp]{Report: true, RequeueAfter: time.Minute} // no event in the cluster reports a change
	backlog, _ := builder.External[Backlog](view)
	deployment := servers(app)
	switch {
	case backlog.Down == "":
		deployment.Spec.Replicas = new(backlog.Tasks/10 + 1)
	case len(builder.Owned[*appsv1.Deployment](view)) == 0:
		plan.WaitingFor = []string{"the queue: " + backlog.Down}
		return plan
	default: // as many as there are, until the queue answers
		deployment.Spec.Replicas = builder.Owned[*appsv1.Deployment](view)[0].Spec.Replicas
	}
	plan.Children = []builder.Child{builder.Want(deployment)}
	return plan
}
