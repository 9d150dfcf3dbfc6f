package jobs

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/operators/jobflow"
)

// startManager runs the operators in this process, with the options that `armature manager` has by default, until stop
// is called.
func startManager(ctx context.Context, cfg *rest.Config) (stop func() error, err error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	ours := labels.SelectorFromSet(labels.Set{wellknown.LabelManagedBy: wellknown.ManagedBy})
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:     scheme,
		Metrics:    server.Options{BindAddress: "0"},
		Cache:      cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: ours}}},
		Controller: config.Controller{MaxConcurrentReconciles: 8, SkipNameValidation: new(true)},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	})
	if err != nil {
		return nil, err
	}
	for _, setup := range []func(manager.Manager) error{jobflow.Setup, daemonjob.Setup} {
		if err := setup(mgr); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		cancel()
		return nil, fmt.Errorf("the manager's caches did not fill: %w", <-done)
	}
	return func() error { cancel(); return <-done }, nil
}
