package scaling

import (
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
