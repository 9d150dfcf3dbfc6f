package scaling

import (
	"context"
	"net/url"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/dsoi"
)

// Controller scales clusters as objects of the kind S say.
type Controller[S dsoi.Scaling] struct {
	// Name of the controller, unique in its manager, such as "kvstore-scaling". It is also the field owner of what it
	// writes. Required.
	Name string
	// Cluster is an empty object of the clusters' kind. Only workloads that a cluster of this kind controls are scaled,
	// so that who may write an S can't reach others. Required.
	Cluster client.Object
	// Allow refuses URLs of sources, with an error that names the accepted ones, and URLs that sources redirect to. Default: all are
	// allowed. Connections to link-local addresses, and to those of cloud metadata services, are always refused, under any name.
	Allow func(*url.URL) error
	// Loopback lets sources be on the manager's own machine: where pods are processes beside it, as on the local nodes of
	// devcluster, and in tests. Default: connections to loopback addresses are refused, since what listens there trusts its neighbours.
	Loopback bool
	// Workers is the maximum number of parallel passes; a pass that waits for a slow endpoint occupies one. The passes of one namespace
	// occupy at most a quarter of them, at least one. Default: 8.
	Workers int

	senses senses
}

// Setup lets a manager run the controller.
func (c *Controller[S]) Setup(mgr manager.Manager) error {
	return c.Operator(mgr, mgr.GetClient(), mgr.GetAPIReader()).Complete()
}

// Operator describes the controller. With no manager its Reconciler can be tested. cached is what claims, storage
// classes and other objects of the kind are read from; live is asked for Secrets, so that no cache of all Secrets is
// needed.
func (c *Controller[S]) Operator(mgr manager.Manager, cached client.Client, live client.Reader) *builder.Operator[S] {
	workers := c.Workers
	if workers <= 0 {
		workers = 8
	}
	c.senses.prepare(cached, live, c.Allow, c.Loopback, workers)
	return builder.NewOperator[S](mgr, c.Name).
		Owns(&autoscalingv2.HorizontalPodAutoscaler{}).
		Watches(&appsv1.StatefulSet{}, builder.ReferencedBy(targetNames[S])).
		Watches(&appsv1.Deployment{}, builder.ReferencedBy(targetNames[S])).
		External(func(ctx context.Context, scaling S, view builder.View) (any, error) {
			return c.observe(ctx, scaling, view)
		}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Plan(c.Plan)
}

// targetNames returns the names that the workloads of a scaling's entries may have: an entry names a node or a workload.
func targetNames[S dsoi.Scaling](scaling S) []string {
	var names []string
	for i := range scaling.ScalingSpec().Autoscaling {
		name := scaling.ScalingSpec().Autoscaling[i].Name
		names = append(names, dsoi.WorkloadName(dsoi.ScaledCluster(scaling), name), name)
	}
	return names
}
