package replicas

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/bench/internal/lab"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/replicajob"
)

// startArmature runs the operator of ReplicaJobs in this process, with the options that `armature manager` has by
// default, until stop is called.
func startArmature(ctx context.Context, cfg *rest.Config) (o *operator, stop func() error, err error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, nil, err
	}
	counter := &lab.Requests{}
	ours := labels.SelectorFromSet(labels.Set{wellknown.LabelManagedBy: wellknown.ManagedBy})
	mgr, err := ctrl.NewManager(counter.Watch(cfg), ctrl.Options{
		Scheme:     scheme,
		Metrics:    server.Options{BindAddress: "0"},
		Cache:      cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: ours}}},
		Controller: config.Controller{MaxConcurrentReconciles: 8, SkipNameValidation: new(true)},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true), Unstructured: true}},
	})
	if err != nil {
		return nil, nil, err
	}
	if err := replicajob.Setup(mgr); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		cancel()
		return nil, nil, fmt.Errorf("the manager's caches did not fill: %w", <-done)
	}
	return &operator{
		counter: counter, reconciles: reconciles, job: replicaJob,
		list: func() client.ObjectList { return &v1alpha1.ReplicaJobList{} },
		succeeded: func(obj runtime.Object) (bool, int) {
			job := obj.(*v1alpha1.ReplicaJob)
			return job.Status.State == v1alpha1.ReplicaJobSucceeded, size(job.Status)
		},
	}, func() error { cancel(); return <-done }, nil
}

// replicaJob is a job of n workers, of which all must succeed, and whose pods all go in the end.
func replicaJob(namespace string, n int) client.Object {
	return &v1alpha1.ReplicaJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "job"},
		Spec: v1alpha1.ReplicaJobSpec{
			ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{
				v1alpha1.ReplicaWorker: {Replicas: new(int32(n)), Template: template(), RestartPolicy: v1alpha1.RestartNever},
			},
			RunPolicy:     v1alpha1.RunPolicy{CleanPodPolicy: v1alpha1.CleanPodAll},
			SuccessPolicy: &v1alpha1.ReplicaSuccessPolicy{Rule: v1alpha1.SuccessAllWorkers},
		},
	}
}

// reconciles returns how many passes the operator has made in this process.
func reconciles() (int, error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return 0, err
	}
	var n float64
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == replicajob.Name {
					n += m.GetCounter().GetValue()
				}
			}
		}
	}
	return int(n), nil
}

func size(status any) int {
	data, err := json.Marshal(status)
	if err != nil {
		return 0
	}
	return len(data)
}
