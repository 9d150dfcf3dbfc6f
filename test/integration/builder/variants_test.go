package builder_test

import (
	"maps"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// variants makes objects of a kind that differ in what can be changed: in every union, in lists with keys, and in fields
// from which the API server derives others.
type variants struct{ *rand.Rand }

func (v variants) maybe() bool { return v.IntN(2) == 0 }

func oneOf[T any](v interface{ IntN(n int) int }, all ...T) T { return all[v.IntN(len(all))] }

func (v variants) labels() map[string]string {
	return oneOf(v, nil, map[string]string{"x": "1"}, map[string]string{"x": "2", "y": "1"})
}

func (v variants) env() []corev1.EnvVar {
	var env []corev1.EnvVar
	for _, name := range []string{"A", "B"} {
		switch v.IntN(4) {
		case 0:
			env = append(env, corev1.EnvVar{Name: name, Value: oneOf(v, "1", "2")})
		case 1:
			env = append(env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}})
		case 2:
			env = append(env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: oneOf(v, "a", "b"),
			}}})
		}
	}
	return env
}

func (v variants) handler() corev1.ProbeHandler {
	return oneOf(v,
		corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80), Path: oneOf(v, "", "/a")}},
		corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}},
		corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(81)}},
		corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 82, Service: oneOf(v, nil, new("s"))}})
}

func (v variants) probe() *corev1.Probe {
	if v.maybe() {
		return nil
	}
	return &corev1.Probe{ProbeHandler: v.handler(), PeriodSeconds: oneOf[int32](v, 0, 10, 20)}
}

func (v variants) lifecycle() *corev1.Lifecycle {
	switch v.IntN(3) {
	case 0:
		return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
	case 1:
		return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}}
	}
	return nil
}

func (v variants) container(name string, port int32) corev1.Container {
	c := corev1.Container{
		Name: name, Image: oneOf(v, "i", "i:1", "i:latest"), Env: v.env(),
		LivenessProbe: v.probe(), ReadinessProbe: v.probe(), Lifecycle: v.lifecycle(),
	}
	if v.maybe() {
		c.Ports = []corev1.ContainerPort{{Name: oneOf(v, name, name+"x"), ContainerPort: port + int32(v.IntN(2)), Protocol: oneOf(v, "", corev1.ProtocolTCP, corev1.ProtocolUDP)}}
	}
	if v.maybe() {
		c.SecurityContext = &corev1.SecurityContext{RunAsNonRoot: oneOf(v, nil, new(true))}
	}
	return c
}

func (v variants) volume(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: oneOf(v,
		corev1.VolumeSource{},
		corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: oneOf(v, "", corev1.StorageMediumMemory)}},
		corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}},
		corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}},
		corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}},
		corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
			ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"},
		}}}},
		corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
			Path: "p", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"},
		}}}},
		corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claimOf("", "1Gi").Spec}}},
	)}
}

func (v variants) pod() corev1.PodTemplateSpec {
	pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{
		NodeSelector: map[string]string{"none": "such"}, ServiceAccountName: oneOf(v, "", "a", "b"), HostNetwork: v.IntN(3) == 0,
		Containers:                    []corev1.Container{v.container("a", 80)},
		TerminationGracePeriodSeconds: oneOf(v, nil, ptr.To[int64](5)), DNSPolicy: oneOf(v, "", corev1.DNSDefault),
	}}
	if v.maybe() {
		pod.Spec.Containers = append(pod.Spec.Containers, v.container("b", 90))
	}
	for _, name := range []string{"v", "w"} {
		if v.maybe() {
			pod.Spec.Volumes = append(pod.Spec.Volumes, v.volume(name))
		}
	}
	if v.maybe() {
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: oneOf(v, nil, ptr.To[int64](1)), SeccompProfile: oneOf(v,
			nil, &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			&corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: new("p")})}
	}
	return pod
}

func (v variants) ports() []corev1.ServicePort {
	ports := []corev1.ServicePort{{
		Name: "p", Port: oneOf[int32](v, 80, 81), Protocol: oneOf(v, "", corev1.ProtocolTCP, corev1.ProtocolUDP),
		TargetPort: oneOf(v, intstr.IntOrString{}, intstr.FromString("p")),
	}}
	if v.maybe() {
		ports = append(ports, corev1.ServicePort{Name: "q", Port: oneOf[int32](v, 90, 91)})
	}
	return ports
}

func (v variants) service() *corev1.Service {
	s := &corev1.Service{Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "web"}, Ports: v.ports(),
		Type:            oneOf(v, "", corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer),
		SessionAffinity: oneOf(v, "", corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP),
	}}
	if len(s.Spec.Ports) == 1 && v.maybe() {
		s.Spec.Ports[0].Name = ""
		s.Spec.Ports[0].TargetPort = intstr.IntOrString{}
	}
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer || s.Spec.Type == corev1.ServiceTypeNodePort {
		s.Spec.ExternalTrafficPolicy = oneOf(v, "", corev1.ServiceExternalTrafficPolicyLocal, corev1.ServiceExternalTrafficPolicyCluster)
	}
	return s
}

func (v variants) networkPolicy() *networkingv1.NetworkPolicy {
	peer := []networkingv1.NetworkPolicyPeer{oneOf(v,
		networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}},
		networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8"}})}
	n := &networkingv1.NetworkPolicy{}
	if v.maybe() {
		n.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{From: peer}}
	}
	if v.maybe() {
		n.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{To: peer}}
	}
	n.Spec.PolicyTypes = oneOf(v, nil, nil, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress})
	return n
}

func (v variants) scaler() *autoscalingv2.HorizontalPodAutoscaler {
	h := &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
		MaxReplicas:    oneOf[int32](v, 3, 5), MinReplicas: oneOf(v, nil, ptr.To[int32](2)),
	}}
	target := oneOf(v,
		autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](50)},
		autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse("1"))})
	h.Spec.Metrics = oneOf(v, nil,
		[]autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceMemory, Target: target}}},
		[]autoscalingv2.MetricSpec{{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
			Name: corev1.ResourceCPU, Container: "a", Target: target,
		}}})
	if v.maybe() {
		h.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](60)}}
	}
	return h
}

func (v variants) ingress() *networkingv1.Ingress {
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "s", Port: oneOf(v,
		networkingv1.ServiceBackendPort{Number: 80}, networkingv1.ServiceBackendPort{Name: "p"})}}
	if v.maybe() {
		backend = networkingv1.IngressBackend{Resource: &corev1.TypedLocalObjectReference{APIGroup: new("x.io"), Kind: "X", Name: "x"}}
	}
	i := &networkingv1.Ingress{Spec: networkingv1.IngressSpec{DefaultBackend: &backend}}
	if v.maybe() {
		i.Spec.Rules = []networkingv1.IngressRule{{Host: oneOf(v, "", "a.example"), IngressRuleValue: networkingv1.IngressRuleValue{
			HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: ptr.To(networkingv1.PathTypePrefix), Backend: backend}}},
		}}}
	}
	return i
}

func (v variants) budget() *policyv1.PodDisruptionBudget {
	one := new(oneOf(v, intstr.FromInt32(1), intstr.FromString("50%")))
	b := &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{Selector: webLabels()}}
	switch v.IntN(3) {
	case 0:
		b.Spec.MinAvailable = one
	case 1:
		b.Spec.MaxUnavailable = one
	}
	return b
}

func (v variants) deployment() *appsv1.Deployment {
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](0), Selector: webLabels(), Template: v.pod(), Paused: v.maybe()}}
	d.Spec.Strategy = oneOf(v, appsv1.DeploymentStrategy{}, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
		appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType},
		appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(2))}})
	return d
}

func (v variants) statefulSet() *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](0), Selector: webLabels(), Template: v.pod(), ServiceName: "s"}}
	s.Spec.UpdateStrategy = oneOf(v, appsv1.StatefulSetUpdateStrategy{}, appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
		appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType},
		appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}})
	return s
}

func (v variants) daemonSet() *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Selector: webLabels(), Template: v.pod()}}
	d.Spec.UpdateStrategy = oneOf(v, appsv1.DaemonSetUpdateStrategy{}, appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType},
		appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType},
		appsv1.DaemonSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(2))}})
	return d
}

func (v variants) cronJob() *batchv1.CronJob {
	return &batchv1.CronJob{Spec: batchv1.CronJobSpec{
		Schedule: oneOf(v, "0 0 1 1 *", "1 0 1 1 *"), Suspend: oneOf(v, nil, new(true)),
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Template: onceOnly(v.pod()), Parallelism: oneOf(v, nil, ptr.To[int32](2)), Completions: oneOf(v, nil, ptr.To[int32](3)),
			BackoffLimit: oneOf(v, nil, ptr.To[int32](1)),
		}},
	}}
}

// kinds are the makers of all the kinds.
func (v variants) kinds() map[string]func() client.Object {
	all := v.unions()
	maps.Copy(all, v.plain())
	return all
}

// unions are the makers of the kinds with unions, lists with keys, and fields from which the API server derives others.
func (v variants) unions() map[string]func() client.Object {
	return map[string]func() client.Object{
		"ConfigMap": func() client.Object { return &corev1.ConfigMap{Data: v.labels()} },
		"Secret":    func() client.Object { return &corev1.Secret{StringData: v.labels()} },
		"ServiceAccount": func() client.Object {
			return &corev1.ServiceAccount{AutomountServiceAccountToken: oneOf(v, nil, new(false)), ImagePullSecrets: []corev1.LocalObjectReference{{Name: oneOf(v, "a", "b")}}}
		},
		"Service":                 func() client.Object { return v.service() },
		"Deployment":              func() client.Object { return v.deployment() },
		"StatefulSet":             func() client.Object { return v.statefulSet() },
		"DaemonSet":               func() client.Object { return v.daemonSet() },
		"CronJob":                 func() client.Object { return v.cronJob() },
		"PodTemplate":             func() client.Object { return &corev1.PodTemplate{Template: v.pod()} },
		"PodDisruptionBudget":     func() client.Object { return v.budget() },
		"NetworkPolicy":           func() client.Object { return v.networkPolicy() },
		"HorizontalPodAutoscaler": func() client.Object { return v.scaler() },
		"Ingress":                 func() client.Object { return v.ingress() },
		"ReplicaSet": func() client.Object {
			return &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](0), Selector: webLabels(), Template: v.pod()}}
		},
		"Role": func() client.Object {
			return &rbacv1.Role{Rules: v.rules()}
		},
		"ResourceQuota": func() client.Object {
			return &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{oneOf(v, corev1.ResourcePods, corev1.ResourceServices): resource.MustParse("99")}}}
		},
		"LimitRange": func() client.Object {
			return &corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypePersistentVolumeClaim, Max: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(oneOf(v, "1Ti", "2Ti"))},
			}}}}
		},
	}
}
