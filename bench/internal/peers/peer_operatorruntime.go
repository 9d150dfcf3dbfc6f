package peers

import (
	"context"

	"github.com/datainfrahq/operator-runtime/builder"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// setUpOperatorRuntime does as the operators of datainfrahq do: a Builder and a store in each pass, all Deployments in
// one call, then the store's prune.
func setUpOperatorRuntime(mgr manager.Manager) (reconciler, error) {
	c := mgr.GetClient()
	recorder := mgr.GetEventRecorderFor("bench") //nolint:staticcheck // the one that this peer takes
	return func(ctx context.Context, owner *corev1.ConfigMap, wanted []*appsv1.Deployment) error {
		ref := *metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		items := make([]builder.BuilderDeploymentStatefulSet, len(wanted))
		for i, d := range wanted {
			items[i] = builder.BuilderDeploymentStatefulSet{
				Replicas: *d.Spec.Replicas, Labels: d.Spec.Template.Labels, PodSpec: &d.Spec.Template.Spec, Kind: "Deployment",
				CommonBuilder: builder.CommonBuilder{
					ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name, Labels: d.Labels},
					Client:     c, CrObject: owner, OwnerRef: ref,
				},
			}
		}
		store := builder.NewStore(c, map[string]string{"app.kubernetes.io/instance": owner.Name}, owner.Namespace, owner)
		b := builder.NewBuilder(
			builder.ToNewBuilderDeploymentStatefulSet(items),
			builder.ToNewBuilderRecorder(builder.BuilderRecorder{Recorder: recorder, ControllerName: "bench"}),
			builder.ToNewBuilderContext(builder.BuilderContext{Context: ctx}),
			builder.ToNewBuilderStore(*store),
		)
		if _, err := b.ReconcileDeployOrSts(); err != nil {
			return err
		}
		if len(b.Store.ObjectNameKind) < len(wanted) {
			return nil // it stopped after an update; what it hasn't come to yet would be pruned
		}
		// It lists once for each Deployment, and finds again what it has just deleted until the cache has caught up.
		return client.IgnoreNotFound(b.ReconcileStore())
	}, nil
}
