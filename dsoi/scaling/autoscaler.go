package scaling

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/dsoi"
)

// autoscaler scales a workload by a resource. Kubernetes' own controller does the rest.
func autoscaler(scaling dsoi.Scaling, target client.Object, rule *replicaRule) *autoscalingv2.HorizontalPodAutoscaler {
	kind := "Deployment"
	if _, ok := target.(*appsv1.StatefulSet); ok {
		kind = "StatefulSet"
	}
	quiet := &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(rule.coolDown.Seconds()))}
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: scaling.GetNamespace(), Name: target.GetName(), Labels: nodeLabels(target)},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: kind, Name: target.GetName()},
			MinReplicas:    new(rule.min),
			MaxReplicas:    rule.max,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceName(rule.source.Resource),
				Target: autoscalingv2.MetricTarget{
					Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(rule.threshold)),
				},
			}}},
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: quiet, ScaleDown: quiet.DeepCopy()},
		},
	}
}

// nodeLabels are the labels of the node whose workload this is.
func nodeLabels(workload client.Object) map[string]string {
	labels := map[string]string{}
	for _, key := range []string{dsoi.LabelCluster, dsoi.LabelNode, dsoi.LabelNodeType} {
		labels[key] = workload.GetLabels()[key]
	}
	return labels
}

// takenNames returns the names of HorizontalPodAutoscalers that entries need and that others have, each with its controller in a few words.
func (c *Controller[S]) takenNames(ctx context.Context, scaling S) (map[string]string, error) {
	spec := scaling.ScalingSpec()
	taken := map[string]string{}
	for i := range spec.Autoscaling {
		e := &spec.Autoscaling[i]
		if !isOn(e.Spec) {
			continue
		}
		if rule, err := readReplicas(spec, e.Spec); err != nil || rule.source.Resource == "" {
			continue
		}
		for _, name := range workloadNames(scaling, e.Name) {
			found := &autoscalingv2.HorizontalPodAutoscaler{}
			err := c.senses.cached.Get(ctx, client.ObjectKey{Namespace: scaling.GetNamespace(), Name: name}, found, client.UnsafeDisableDeepCopy)
			switch {
			case client.IgnoreNotFound(err) != nil:
				return nil, fmt.Errorf("read HorizontalPodAutoscaler %s: %w", name, err)
			case err != nil || metav1.IsControlledBy(found, scaling):
			default:
				taken[name] = "it has no controller"
				if ref := metav1.GetControllerOfNoCopy(found); ref != nil {
					taken[name] = "it is controlled by " + ref.Kind + " " + ref.Name
				}
			}
		}
	}
	return taken, nil
}
