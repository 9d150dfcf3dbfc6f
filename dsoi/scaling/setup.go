package scaling

import (
	"context"
	"net/url"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
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
	// so that who may write an S can't reach others. If the manager's scheme lacks the kind, its group is that of S. Required.
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
	c.senses.clusterKind = c.kindOfClusters()
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
		names = append(names, workloadNames(scaling, scaling.ScalingSpec().Autoscaling[i].Name)...)
	}
	return names
}

// workloadNames returns the names that the workload of an entry may have, the likely one first.
func workloadNames(scaling dsoi.Scaling, entry string) []string {
	return []string{dsoi.WorkloadName(dsoi.ScaledCluster(scaling), entry), entry}
}

// kindOfClusters returns the kind of the clusters. A scheme that lacks it is taken to have it in the group of S.
func (c *Controller[S]) kindOfClusters() schema.GroupKind {
	if c.Cluster == nil {
		return schema.GroupKind{}
	}
	if gvk, err := apiutil.GVKForObject(c.Cluster, c.senses.scheme); err == nil {
		return gvk.GroupKind()
	}
	own, _ := c.ownKind() // without it the first pass fails
	return schema.GroupKind{Group: own.Group, Kind: reflect.TypeOf(c.Cluster).Elem().Name()}
}

// ownKind returns the kind of S.
func (c *Controller[S]) ownKind() (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(reflect.New(reflect.TypeFor[S]().Elem()).Interface().(runtime.Object), c.senses.scheme)
}
