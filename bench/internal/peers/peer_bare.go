package peers

import (
	"context"
	"errors"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/internal/wellknown"
)

// requestsAtATime is how many requests a pass of Armature has under way at most, by default.
const requestsAtATime = 32

// setUpBare is the least that can be done: as many requests at a time as Armature, of objects as large as Armature's.
func setUpBare(mgr manager.Manager) (reconciler, error) {
	c, err := client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, owner *corev1.ConfigMap, wanted []*appsv1.Deployment) error {
		errs := make([]error, len(wanted))
		todo := make(chan int)
		var wg sync.WaitGroup
		for range requestsAtATime {
			wg.Go(func() {
				for i := range todo {
					errs[i] = create(ctx, c, owner, wanted[i])
				}
			})
		}
		for i := range wanted {
			todo <- i
		}
		close(todo)
		wg.Wait()
		return errors.Join(errs...)
	}, nil
}

func create(ctx context.Context, c client.Client, owner *corev1.ConfigMap, d *appsv1.Deployment) error {
	if err := controllerutil.SetControllerReference(owner, d, c.Scheme()); err != nil {
		return err
	}
	d.Labels[wellknown.LabelManagedBy] = wellknown.ManagedBy
	d.Annotations = map[string]string{wellknown.AnnotationDigest: "0123456789abcdef0123456789abcdef"}
	return c.Create(ctx, d, client.FieldOwner("bench"))
}
