package compat

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/armature-dev/armature/test/testcluster"
)

// controller is the operator under a manager. It counts its passes.
type controller struct {
	clusterReconciler
	passes atomic.Int64
}

func (r *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	defer r.passes.Add(1)
	cr := &corev1.ConfigMap{}
	if err := r.Client.Get(ctx, req.NamespacedName, cr); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, r.do(ctx, cr)
}

// manage runs the operator as a program would: with a manager's cached client, which may lag behind its own writes.
func (p *place) manage(cr string) *controller {
	p.t.Helper()
	config := testcluster.Config(p.t)
	config.Wrap(p.count)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  clientgoscheme.Scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{p.namespace: {}}},
	})
	require.NoError(p.t, err)
	r := &controller{clusterReconciler: clusterReconciler{
		Client:   mgr.GetClient(),
		Recorder: mgr.GetEventRecorderFor("cluster-operator"), //nolint:staticcheck // what operators of the original have
	}}
	isOwner := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == cr })
	require.NoError(p.t, ctrl.NewControllerManagedBy(mgr).Named(p.namespace).
		For(&corev1.ConfigMap{}, ctrlbuilder.WithPredicates(isOwner)).
		Owns(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).Owns(&appsv1.StatefulSet{}).Owns(&corev1.Service{}).
		Complete(r))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	p.t.Cleanup(func() {
		cancel()
		require.NoError(p.t, <-ended)
	})
	return r
}

func TestUnderAManager(t *testing.T) {
	p := newPlace(t)
	data := twoNodes()
	p.cr("my", data)
	p.manage("my")
	ready := func() bool {
		return len(p.pods("my", "web", "MODE")["production"]) == 2 && len(p.pods("my", "db", "MODE")["production"]) == 2
	}
	p.eventually("pods", ready)

	change(p, &appsv1.Deployment{}, "my-web", func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](1) })
	p.eventually("drift to be corrected", func() bool {
		return *get(p, &appsv1.Deployment{}, "my-web").Spec.Replicas == 2
	})
	require.NoError(t, p.client.Delete(t.Context(), get(p, &corev1.Service{}, "my-web-svc")))
	p.eventually("the Service to be back", func() bool { return p.exists(&corev1.Service{}, "my-web-svc") })
	p.eventually("pods", ready)

	data["nodes"] = "db=Statefulset"
	p.cr("my", data)
	p.eventually("web to be gone", func() bool {
		return !p.exists(&appsv1.Deployment{}, "my-web") && !p.exists(&corev1.ConfigMap{}, "my-web-config")
	})
	data["nodes"] = ""
	p.cr("my", data)
	p.eventually("db to be gone", func() bool { return !p.exists(&appsv1.StatefulSet{}, "my-db") })

	p.eventually("events", func() bool {
		var list corev1.EventList
		require.NoError(t, p.client.List(t.Context(), &list, client.InNamespace(p.namespace)))
		for _, e := range list.Items {
			if e.Reason == "ClusterOperatorDeleteObjectSuccess" && strings.HasPrefix(e.Message, "Deleted StatefulSet.apps") {
				return e.InvolvedObject.Name == "my"
			}
		}
		return false
	})
}

// A pass that finds nothing to do writes nothing, however often the cluster's controllers make the operator look.
func TestIdleUnderAManager(t *testing.T) {
	p := newPlace(t)
	p.cr("my", twoNodes())
	operator := p.manage("my")
	objects := map[string]client.Object{
		"my-web-config": &corev1.ConfigMap{}, "my-db-config": &corev1.ConfigMap{}, "my-web-svc": &corev1.Service{},
		"my-db-svc": &corev1.Service{}, "my-web": &appsv1.Deployment{}, "my-db": &appsv1.StatefulSet{},
	}
	for name, obj := range objects {
		p.eventually(name, func() bool { return p.exists(obj, name) })
	}
	p.awaitRollout("my")
	p.writes()
	for range 5 {
		passes := operator.passes.Load()
		change(p, &corev1.ConfigMap{}, "my", func(cr *corev1.ConfigMap) {
			metav1.SetMetaDataAnnotation(&cr.ObjectMeta, "touched", cr.ResourceVersion)
		})
		p.eventually("a pass", func() bool { return operator.passes.Load() > passes })
	}
	require.Zero(t, p.writes())
}
