package peers

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// setUpCreateOrUpdate is the way that most operators go: one object after the other, the spec assigned as a whole.
func setUpCreateOrUpdate(mgr manager.Manager) (reconciler, error) {
	c := mgr.GetClient()
	return func(ctx context.Context, owner *corev1.ConfigMap, wanted []*appsv1.Deployment) error {
		names := map[string]bool{}
		for _, want := range wanted {
			names[want.Name] = true
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: want.Namespace, Name: want.Name}}
			_, err := controllerutil.CreateOrUpdate(ctx, c, d, func() error {
				d.Labels, d.Spec = want.Labels, want.Spec
				return controllerutil.SetControllerReference(owner, d, c.Scheme())
			})
			if err != nil {
				return err
			}
		}
		var all appsv1.DeploymentList
		if err := c.List(ctx, &all, client.InNamespace(owner.Namespace)); err != nil {
			return err
		}
		for i := range all.Items {
			if d := &all.Items[i]; metav1.IsControlledBy(d, owner) && !names[d.Name] {
				if err := c.Delete(ctx, d); err != nil {
					return err
				}
			}
		}
		return nil
	}, nil
}
