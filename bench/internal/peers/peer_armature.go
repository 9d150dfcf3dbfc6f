package peers

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
)

// readYourWrites is what builder's documentation asks for. A manager writes into it, so each gets its own.
func readYourWrites() client.Options {
	return client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}}
}

func setUpArmature(mgr manager.Manager) (reconciler, error) {
	engine := builder.EngineFor(mgr, "bench")
	if err := engine.Index(context.Background(), mgr.GetFieldIndexer(), &appsv1.Deployment{}); err != nil {
		return nil, err
	}
	return func(ctx context.Context, owner *corev1.ConfigMap, wanted []*appsv1.Deployment) error {
		build := engine.For(owner).Prune(&appsv1.Deployment{})
		for _, d := range wanted {
			build.Deployment(d)
		}
		_, err := build.Reconcile(ctx)
		return err
	}, nil
}
