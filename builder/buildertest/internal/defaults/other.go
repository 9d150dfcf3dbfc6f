package defaults

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func service(o *corev1.Service) {
	s := &o.Spec
	setIfZero(&s.SessionAffinity, corev1.ServiceAffinityNone)
	if s.SessionAffinity == corev1.ServiceAffinityNone {
		s.SessionAffinityConfig = nil
	} else {
		setIfNil(&s.SessionAffinityConfig, corev1.SessionAffinityConfig{})
		setIfNil(&s.SessionAffinityConfig.ClientIP, corev1.ClientIPConfig{})
		setIfNil(&s.SessionAffinityConfig.ClientIP.TimeoutSeconds, corev1.DefaultClientIPServiceAffinitySeconds)
	}
	setIfZero(&s.Type, corev1.ServiceTypeClusterIP)
	for i := range s.Ports {
		p := &s.Ports[i]
		setIfZero(&p.Protocol, corev1.ProtocolTCP)
		if p.TargetPort == intstr.FromInt32(0) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer {
		setIfZero(&s.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if s.Type != corev1.ServiceTypeExternalName {
		setIfNil(&s.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if s.Type == corev1.ServiceTypeLoadBalancer {
		setIfNil(&s.AllocateLoadBalancerNodePorts, true)
	}
}

func claim(o *corev1.PersistentVolumeClaim) {
	setIfZero(&o.Status.Phase, corev1.ClaimPending)
	setIfNil(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
}

func namespace(o *corev1.Namespace) {
	if o.Name != "" {
		if o.Labels == nil {
			o.Labels = map[string]string{}
		}
		o.Labels[corev1.LabelMetadataName] = o.Name
	}
	setIfZero(&o.Status.Phase, corev1.NamespaceActive)
}

func networkPolicy(o *networkingv1.NetworkPolicy) {
	if len(o.Spec.PolicyTypes) == 0 {
		o.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(o.Spec.Egress) > 0 {
			o.Spec.PolicyTypes = append(o.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	for _, rule := range o.Spec.Ingress {
		policyPorts(rule.Ports)
	}
	for _, rule := range o.Spec.Egress {
		policyPorts(rule.Ports)
	}
}

func policyPorts(ports []networkingv1.NetworkPolicyPort) {
	for i := range ports {
		setIfNil(&ports[i].Protocol, corev1.ProtocolTCP)
	}
}

func autoscaler(o *autoscalingv2.HorizontalPodAutoscaler) {
	setIfNil(&o.Spec.MinReplicas, 1)
	if len(o.Spec.Metrics) == 0 {
		average := int32(80)
		o.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &average},
			},
		}}
	}
}

func roleRef(ref *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	setIfZero(&ref.APIGroup, rbacv1.GroupName)
	for i := range subjects {
		if subjects[i].Kind == rbacv1.UserKind || subjects[i].Kind == rbacv1.GroupKind {
			setIfZero(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}
