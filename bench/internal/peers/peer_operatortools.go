package peers

import (
	"context"

	tools "github.com/cisco-open/operator-tools/pkg/reconciler"
	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// setUpOperatorTools uses the native reconciler, which prunes, with its defaults.
func setUpOperatorTools(mgr manager.Manager) (reconciler, error) {
	return func(_ context.Context, owner *corev1.ConfigMap, wanted []*appsv1.Deployment) error {
		resources := func(tools.ResourceOwner, any) []tools.ResourceBuilder {
			builders := make([]tools.ResourceBuilder, len(wanted))
			for i, d := range wanted {
				builders[i] = func() (runtime.Object, tools.DesiredState, error) { return d, tools.StatePresent, nil }
			}
			return builders
		}
		native := tools.NewNativeReconcilerWithDefaults("bench", mgr.GetClient(), mgr.GetScheme(), logr.Discard(), resources,
			func() []schema.GroupVersionKind {
				return []schema.GroupVersionKind{appsv1.SchemeGroupVersion.WithKind("Deployment")}
			},
			func(parent runtime.Object) (tools.ResourceOwner, any) { return parent.(*corev1.ConfigMap), nil },
			tools.NativeReconcilerSetControllerRef(), tools.NativeReconcilerSetRESTMapper(mgr.GetRESTMapper()),
		)
		_, err := native.Reconcile(owner)
		return err
	}, nil
}
