package builder_test

import (
	"fmt"
	"math/rand/v2"

	admissionv1 "k8s.io/api/admissionregistration/v1"
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

// wide makes variants that differ in most fields of their kind at once, which takes the API server long. Some of them are invalid.
type wide struct{ variants }

// some returns some of the elements, at most max, in any order.
func some[T any](v wide, max int, all ...T) []T {
	var out []T
	for _, x := range all {
		if len(out) < max && v.maybe() {
			out = append(out, x)
		}
	}
	if v.IntN(4) == 0 {
		v.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

func (v wide) resources() corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{}
	if v.maybe() {
		r.Limits = oneOf(v, corev1.ResourceList{"cpu": resource.MustParse("1000m")}, corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("1024Mi")}, corev1.ResourceList{"memory": resource.MustParse("2Gi")})
	}
	if v.maybe() {
		r.Requests = oneOf(v, corev1.ResourceList{"cpu": resource.MustParse("0.5")}, corev1.ResourceList{"memory": resource.MustParse("100Mi")})
	}
	return r
}

func (v wide) handler() *corev1.LifecycleHandler {
	return oneOf(v, nil,
		&corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}},
		&corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: oneOf(v, intstr.FromInt32(80), intstr.FromString("x")), Host: oneOf(v, "", "h"), Scheme: oneOf(v, "", corev1.URISchemeHTTPS),
			HTTPHeaders: oneOf(v, nil, []corev1.HTTPHeader{{Name: "a", Value: "b"}})}},
		&corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}})
}

func (v wide) probe() *corev1.Probe {
	p := v.variants.probe()
	if p != nil {
		p.InitialDelaySeconds = oneOf[int32](v, 0, 5)
		p.FailureThreshold = oneOf[int32](v, 0, 3, 9)
	}
	return p
}

func (v wide) container(name string, port int32) corev1.Container {
	c := corev1.Container{
		Name: name, Image: oneOf(v, "i", "i:1", "i:latest"), Env: v.env(), ImagePullPolicy: oneOf(v, "", "", corev1.PullNever, corev1.PullIfNotPresent),
		LivenessProbe: v.probe(), ReadinessProbe: v.probe(), StartupProbe: v.probe(),
		Resources: v.resources(), Command: oneOf(v, nil, []string{"a"}, []string{"a", "b"}), Args: oneOf(v, nil, []string{"", "c"}),
		WorkingDir: oneOf(v, "", "/w"), TTY: v.maybe(), Stdin: v.maybe(), TerminationMessagePolicy: oneOf(v, "", corev1.TerminationMessageFallbackToLogsOnError),
		TerminationMessagePath: oneOf(v, "", "/t"),
	}
	if c.LivenessProbe != nil && v.maybe() {
		c.LivenessProbe.TerminationGracePeriodSeconds = ptr.To[int64](4)
	}
	if v.maybe() {
		c.Lifecycle = &corev1.Lifecycle{PostStart: v.handler(), PreStop: v.handler()}
	}
	c.EnvFrom = some(v, 2,
		corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}},
		corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Optional: oneOf(v, nil, new(true))}},
		corev1.EnvFromSource{Prefix: "p", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "d"}}})
	for i := range v.IntN(4) {
		c.Ports = append(c.Ports, corev1.ContainerPort{
			Name: oneOf(v, fmt.Sprintf("%s%d", name, i), ""), ContainerPort: port + int32(i/2), Protocol: []corev1.Protocol{oneOf(v, "", corev1.ProtocolTCP), corev1.ProtocolUDP}[i%2],
		})
	}
	if v.maybe() {
		c.Ports = append(c.Ports, corev1.ContainerPort{Name: oneOf(v, "", name+"s"), ContainerPort: oneOf(v, port+5, port+6), Protocol: oneOf(v, corev1.ProtocolSCTP, "")})
	}
	if v.maybe() {
		c.SecurityContext = &corev1.SecurityContext{RunAsNonRoot: oneOf(v, nil, new(true), new(false)), Privileged: oneOf(v, nil, new(false)),
			ReadOnlyRootFilesystem: oneOf(v, nil, new(true)), AllowPrivilegeEscalation: oneOf(v, nil, new(false)),
			Capabilities:    oneOf(v, nil, &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}, Drop: []corev1.Capability{"A"}}),
			AppArmorProfile: oneOf(v, nil, &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}, &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: new("x")}),
			SeccompProfile: oneOf(v, nil, &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined},
				&corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: new("p")}),
			SELinuxOptions: oneOf(v, nil, &corev1.SELinuxOptions{Level: "a"}, &corev1.SELinuxOptions{Role: "r"}),
		}
	}
	return c
}

func (v wide) volume(name string) corev1.Volume {
	lo := corev1.LocalObjectReference{Name: "c"}
	items := oneOf(v, nil, []corev1.KeyToPath{{Key: "a", Path: "b"}}, []corev1.KeyToPath{{Key: "a", Path: "b", Mode: ptr.To[int32](0o400)}})
	sources := some(v, 4,
		corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: lo, Items: items}},
		corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: lo, Optional: oneOf(v, nil, new(true))}},
		corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "q", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}},
		corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t", ExpirationSeconds: oneOf(v, nil, ptr.To[int64](700))}})
	return corev1.Volume{Name: name, VolumeSource: oneOf(v,
		v.variants.volume("x").VolumeSource,
		corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources, DefaultMode: oneOf(v, nil, ptr.To[int32](0o600))}},
		corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: lo, Items: items, Optional: oneOf(v, nil, new(false), new(true))}},
		corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", DefaultMode: oneOf(v, nil, ptr.To[int32](0o400))}},
		corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/p"}},
		corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "1.2.3.4", IQN: "iqn.2001-04.com.example:a", Lun: 1}},
		corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"a"}, RBDImage: "i", RBDPool: oneOf(v, "", "mine")}},
		corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "https://blob/x.vhd"}},
		corev1.VolumeSource{ScaleIO: &corev1.ScaleIOVolumeSource{Gateway: "g", System: "s", VolumeName: "v", SecretRef: &lo}},
		corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "d.io", VolumeAttributes: v.labels()}},
		corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: oneOf(v, "i", "i:1"), PullPolicy: oneOf(v, "", corev1.PullNever)}},
		corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c", ReadOnly: v.maybe()}},
		corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: oneOf(v, nil, new(resource.MustParse("1Gi")), new(resource.MustParse("2048Mi")))}},
		corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x", Type: oneOf(v, nil, ptr.To(corev1.HostPathDirectory))}},
		corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{Path: "p", ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "a", Resource: "limits.cpu"}}}}},
	)}
}

func (v wide) pod() corev1.PodTemplateSpec {
	pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}, Annotations: v.labels()}}
	s := &pod.Spec
	s.NodeSelector = oneOf(v, map[string]string{"none": "such"}, map[string]string{"none": "such", "a": "b"})
	s.ServiceAccountName = oneOf(v, "", "", "a", "b")
	s.HostNetwork = v.IntN(4) == 0
	s.Containers = some(v, 3, v.container("a", 80), v.container("b", 90), v.container("c", 100))
	if len(s.Containers) == 0 {
		s.Containers = []corev1.Container{v.container("a", 80)}
	}
	for _, n := range []string{"i", "j"} {
		if v.IntN(3) == 0 {
			c := v.container(n, 200)
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.Lifecycle, c.Ports = nil, nil, nil, nil, nil
			if v.maybe() {
				c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
				c.StartupProbe = v.probe()
			}
			s.InitContainers = append(s.InitContainers, c)
		}
	}
	for _, name := range []string{"v", "w", "x"} {
		if v.maybe() {
			s.Volumes = append(s.Volumes, v.volume(name))
			for i := range s.Containers {
				if v.maybe() {
					s.Containers[i].VolumeMounts = append(s.Containers[i].VolumeMounts, corev1.VolumeMount{
						Name: name, MountPath: oneOf(v, "/m"+name, "/n"+name), SubPath: oneOf(v, "", "s"), ReadOnly: v.maybe()})
				}
			}
		}
	}
	s.TopologySpreadConstraints = some(v, 2,
		corev1.TopologySpreadConstraint{MaxSkew: oneOf[int32](v, 1, 2), TopologyKey: oneOf(v, "zone", "host"), WhenUnsatisfiable: oneOf(v, corev1.DoNotSchedule, corev1.ScheduleAnyway), LabelSelector: webLabels()},
		corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule, MinDomains: oneOf(v, nil, ptr.To[int32](2)), NodeTaintsPolicy: oneOf(v, nil, ptr.To(corev1.NodeInclusionPolicyHonor))})
	s.Tolerations = some(v, 2, corev1.Toleration{Key: "a", Operator: oneOf(v, "", corev1.TolerationOpExists)}, corev1.Toleration{Key: "b", Value: "c"})
	s.HostAliases = some(v, 2, corev1.HostAlias{IP: "1.2.3.4", Hostnames: []string{oneOf(v, "a", "b")}}, corev1.HostAlias{IP: "1.2.3.5", Hostnames: []string{"c", "d"}})
	s.ImagePullSecrets = some(v, 2, corev1.LocalObjectReference{Name: "p"}, corev1.LocalObjectReference{Name: "q"})
	s.DNSPolicy = oneOf(v, "", corev1.DNSDefault, corev1.DNSClusterFirst)
	s.DNSConfig = oneOf(v, nil, &corev1.PodDNSConfig{Nameservers: []string{"1.2.3.4"}, Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: new("2")}}}, &corev1.PodDNSConfig{Searches: []string{"a.b"}})
	s.ReadinessGates = some(v, 1, corev1.PodReadinessGate{ConditionType: "a"})
	s.SchedulerName = oneOf(v, "", "mine")
	s.AutomountServiceAccountToken = oneOf(v, nil, new(false))
	s.EnableServiceLinks = oneOf(v, nil, new(false))
	s.ShareProcessNamespace = oneOf(v, nil, new(true))
	s.PriorityClassName = oneOf(v, "", "system-node-critical")
	s.Subdomain, s.Hostname = oneOf(v, "", "sub"), oneOf(v, "", "h")
	s.TerminationGracePeriodSeconds = oneOf(v, nil, ptr.To[int64](0), ptr.To[int64](5))
	s.ResourceClaims = some(v, 2, corev1.PodResourceClaim{Name: "r1", ResourceClaimName: new("x")}, corev1.PodResourceClaim{Name: "r2", ResourceClaimTemplateName: new("y")})
	if len(s.ResourceClaims) == 0 && v.maybe() {
		s.ResourceClaims = []corev1.PodResourceClaim{{Name: "r1", ResourceClaimTemplateName: new("y")}}
	}
	if v.maybe() {
		s.Affinity = &corev1.Affinity{
			NodeAffinity: oneOf(v, nil, &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}}}}},
				&corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n"}}}}}}}),
			PodAntiAffinity: oneOf(v, nil, &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: webLabels(), MatchLabelKeys: oneOf(v, nil, []string{"k"})}}}),
		}
	}
	if v.maybe() {
		s.SecurityContext = &corev1.PodSecurityContext{RunAsUser: oneOf(v, nil, ptr.To[int64](0), ptr.To[int64](1)), FSGroup: oneOf(v, nil, ptr.To[int64](2)),
			SupplementalGroups: oneOf(v, nil, []int64{1, 2}, []int64{2}), Sysctls: oneOf(v, nil, []corev1.Sysctl{{Name: "a.b", Value: "1"}}),
			FSGroupChangePolicy: oneOf(v, nil, ptr.To(corev1.FSGroupChangeOnRootMismatch))}
	}
	return pod
}

func (v wide) service() *corev1.Service {
	s := &corev1.Service{Spec: corev1.ServiceSpec{Type: oneOf(v, "", corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeLoadBalancer)}}
	sp := &s.Spec
	sp.Selector = oneOf(v, nil, map[string]string{"app": "web"}, map[string]string{"a": "b"})
	np := func() int32 {
		if (sp.Type == corev1.ServiceTypeNodePort || sp.Type == corev1.ServiceTypeLoadBalancer) && v.maybe() {
			nextNodePort++
			return 30000 + nextNodePort%2767
		}
		return 0
	}
	sp.Ports = some(v, 4,
		corev1.ServicePort{Name: oneOf(v, "dns", "dns2"), Port: 53, NodePort: np(), AppProtocol: oneOf(v, nil, new("x"))},
		corev1.ServicePort{Name: "dnsu", Port: 53, Protocol: corev1.ProtocolUDP, NodePort: np(), TargetPort: oneOf(v, intstr.FromInt32(0), intstr.FromInt32(5353))},
		corev1.ServicePort{Name: "web", Port: oneOf[int32](v, 80, 8080), NodePort: np(), TargetPort: oneOf(v, intstr.FromInt32(0), intstr.FromString("web"))},
		corev1.ServicePort{Name: "sctp", Port: 90, Protocol: oneOf(v, corev1.ProtocolSCTP, corev1.ProtocolTCP)})
	if len(sp.Ports) == 0 {
		sp.Ports = []corev1.ServicePort{{Port: 80, Name: oneOf(v, "", "web")}}
	}
	sp.ExternalIPs = oneOf(v, nil, []string{"10.1.1.1"}, []string{"10.1.1.1", "10.1.1.2"})
	sp.InternalTrafficPolicy = oneOf(v, nil, ptr.To(corev1.ServiceInternalTrafficPolicyLocal))
	sp.PublishNotReadyAddresses = v.maybe()
	sp.TrafficDistribution = oneOf(v, nil, new("PreferSameZone"))
	sp.IPFamilyPolicy = oneOf(v, ptr.To(corev1.IPFamilyPolicySingleStack), ptr.To(corev1.IPFamilyPolicyPreferDualStack))
	if v.maybe() {
		sp.SessionAffinity = oneOf(v, corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP)
		if sp.SessionAffinity == corev1.ServiceAffinityClientIP && v.maybe() {
			sp.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: ptr.To[int32](60)}}
		}
	}
	if sp.Type == corev1.ServiceTypeLoadBalancer {
		sp.LoadBalancerSourceRanges = oneOf(v, nil, []string{"10.0.0.0/8"})
		sp.AllocateLoadBalancerNodePorts = oneOf(v, nil, new(true))
	}
	if sp.Type == corev1.ServiceTypeLoadBalancer || sp.Type == corev1.ServiceTypeNodePort {
		sp.ExternalTrafficPolicy = oneOf(v, "", corev1.ServiceExternalTrafficPolicyLocal, corev1.ServiceExternalTrafficPolicyCluster)
	}
	return s
}

func (v wide) networkPolicy() *networkingv1.NetworkPolicy {
	peers := func() []networkingv1.NetworkPolicyPeer {
		return some(v, 2,
			networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}, NamespaceSelector: oneOf(v, nil, noNamespace, &metav1.LabelSelector{})},
			networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: oneOf(v, nil, []string{"10.1.0.0/16"})}})
	}
	ports := func() []networkingv1.NetworkPolicyPort {
		return some(v, 2,
			networkingv1.NetworkPolicyPort{Port: new(intstr.FromInt32(80)), Protocol: oneOf(v, nil, ptr.To(corev1.ProtocolUDP)), EndPort: oneOf(v, nil, ptr.To[int32](90))},
			networkingv1.NetworkPolicyPort{Port: new(intstr.FromString("web"))})
	}
	n := &networkingv1.NetworkPolicy{}
	n.Spec.PodSelector = oneOf(v, metav1.LabelSelector{}, *webLabels())
	n.Spec.Ingress = oneOf(v, nil, []networkingv1.NetworkPolicyIngressRule{}, []networkingv1.NetworkPolicyIngressRule{{}}, []networkingv1.NetworkPolicyIngressRule{{From: peers(), Ports: ports()}, {From: peers()}})
	n.Spec.Egress = oneOf(v, nil, []networkingv1.NetworkPolicyEgressRule{}, []networkingv1.NetworkPolicyEgressRule{{}}, []networkingv1.NetworkPolicyEgressRule{{To: peers(), Ports: ports()}, {Ports: ports()}})
	I, E := networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress
	n.Spec.PolicyTypes = oneOf(v, nil, nil, nil, []networkingv1.PolicyType{I}, []networkingv1.PolicyType{E}, []networkingv1.PolicyType{E, I})
	return n
}

func (v wide) scaler() *autoscalingv2.HorizontalPodAutoscaler {
	h := v.variants.scaler()
	target := func() autoscalingv2.MetricTarget {
		return oneOf(v,
			autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: new(resource.MustParse("1000m"))},
			autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse("2"))})
	}
	m := autoscalingv2.MetricIdentifier{Name: "m", Selector: oneOf(v, nil, webLabels())}
	h.Spec.Metrics = some(v, 3,
		autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{Metric: m, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse("2"))}}},
		autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{DescribedObject: h.Spec.ScaleTargetRef, Metric: m, Target: target()}},
		autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{Metric: m, Target: target()}},
		autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](70)}}})
	rules := func() *autoscalingv2.HPAScalingRules {
		return oneOf(v, nil, &autoscalingv2.HPAScalingRules{SelectPolicy: ptr.To(autoscalingv2.DisabledPolicySelect)},
			&autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 60}}, StabilizationWindowSeconds: oneOf(v, nil, ptr.To[int32](0))})
	}
	if v.maybe() {
		h.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(), ScaleDown: rules()}
	}
	return h
}

func (v wide) ingress() *networkingv1.Ingress {
	backend := func() networkingv1.IngressBackend {
		return oneOf(v,
			networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "s", Port: networkingv1.ServiceBackendPort{Number: 80}}},
			networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "s", Port: networkingv1.ServiceBackendPort{Name: "p"}}},
			networkingv1.IngressBackend{Resource: &corev1.TypedLocalObjectReference{Kind: "X", Name: "x", APIGroup: new("x.io")}})
	}
	i := &networkingv1.Ingress{}
	i.Spec.IngressClassName = oneOf(v, nil, new("a"), new("b"))
	if v.maybe() {
		i.Spec.DefaultBackend = new(backend())
	}
	rule := func(host string) networkingv1.IngressRule {
		r := networkingv1.IngressRule{Host: host}
		if v.maybe() {
			r.HTTP = &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{
				{Path: "/a", PathType: new(oneOf(v, networkingv1.PathTypePrefix, networkingv1.PathTypeExact)), Backend: backend()}, {PathType: ptr.To(networkingv1.PathTypeImplementationSpecific), Backend: backend()}}}
		}
		return r
	}
	i.Spec.Rules = some(v, 2, rule("a.example"), rule("b.example"), rule(""))
	i.Spec.TLS = some(v, 2, networkingv1.IngressTLS{Hosts: []string{"a.example"}, SecretName: "s"}, networkingv1.IngressTLS{SecretName: "t"})
	if i.Spec.DefaultBackend == nil && len(i.Spec.Rules) == 0 {
		i.Spec.DefaultBackend = new(backend())
	}
	return i
}

func (v wide) webhooks() *admissionv1.ValidatingWebhookConfiguration {
	w := v.validatingWebhook()
	for i := range w.Webhooks {
		h := &w.Webhooks[i]
		h.MatchConditions = some(v, 2, admissionv1.MatchCondition{Name: "m", Expression: oneOf(v, "true", "false")}, admissionv1.MatchCondition{Name: "n", Expression: "true"})
		h.ObjectSelector = oneOf(v, nil, noNamespace, &metav1.LabelSelector{})
		h.TimeoutSeconds = oneOf(v, nil, ptr.To[int32](4))
		h.Rules = append(h.Rules, v.operations()...)
	}
	return w
}

func (v wide) policy() *admissionv1.ValidatingAdmissionPolicy {
	p := v.validatingPolicy()
	p.Spec.Variables = some(v, 2, admissionv1.Variable{Name: "a", Expression: oneOf(v, "1", "2")}, admissionv1.Variable{Name: "b", Expression: "2"})
	p.Spec.MatchConditions = some(v, 2, admissionv1.MatchCondition{Name: "m", Expression: oneOf(v, "true", "false")}, admissionv1.MatchCondition{Name: "n", Expression: "true"})
	p.Spec.AuditAnnotations = some(v, 1, admissionv1.AuditAnnotation{Key: "a", ValueExpression: "'x'"})
	p.Spec.MatchConstraints.ExcludeResourceRules = oneOf(v, nil, p.Spec.MatchConstraints.ResourceRules)
	p.Spec.MatchConstraints.ObjectSelector = oneOf(v, nil, noNamespace)
	return p
}

// kinds returns what makes objects of a kind. It leaves out quotas and limits, which would refuse those of other kinds.
func (v wide) kinds() map[string]func() client.Object {
	zero := ptr.To[int32](0)
	return map[string]func() client.Object{
		"ConfigMap": func() client.Object {
			c := &corev1.ConfigMap{}
			for _, k := range []string{"a", "b", "1", "c.d"} {
				switch v.IntN(4) {
				case 0:
					c.Data = addTo(c.Data, k, oneOf(v, "", "1", "2"))
				case 1:
					c.BinaryData = addTo(c.BinaryData, k, []byte(oneOf(v, "", "1", "2")))
				}
			}
			return c
		},
		"Secret": func() client.Object {
			c := &corev1.Secret{}
			for _, k := range []string{"a", "b"} {
				if v.IntN(3) == 0 {
					c.StringData = addTo(c.StringData, k, oneOf(v, "", "1", "2"))
				}
				if v.IntN(3) == 0 {
					c.Data = addTo(c.Data, k, []byte(oneOf(v, "", "1", "2")))
				}
			}
			return c
		},
		"ServiceAccount": func() client.Object {
			return &corev1.ServiceAccount{
				AutomountServiceAccountToken: oneOf(v, nil, new(false), new(true)),
				Secrets:                      some(v, 2, corev1.ObjectReference{Name: "a"}, corev1.ObjectReference{Name: "b", Namespace: oneOf(v, "", "x")}),
				ImagePullSecrets:             some(v, 2, corev1.LocalObjectReference{Name: "a"}, corev1.LocalObjectReference{Name: "b"}),
			}
		},
		"Service": func() client.Object { return v.service() },
		"Deployment": func() client.Object {
			d := v.deployment()
			d.Spec.Template = v.pod()
			d.Spec.MinReadySeconds = oneOf[int32](v, 0, 5)
			d.Spec.ProgressDeadlineSeconds = oneOf(v, nil, ptr.To[int32](60))
			d.Spec.RevisionHistoryLimit = oneOf(v, nil, zero)
			return d
		},
		"StatefulSet": func() client.Object {
			d := v.statefulSet()
			d.Spec.Template = v.pod()
			d.Spec.MinReadySeconds = oneOf[int32](v, 0, 5)
			d.Spec.Ordinals = oneOf(v, nil, &appsv1.StatefulSetOrdinals{Start: 3}, &appsv1.StatefulSetOrdinals{})
			d.Spec.PersistentVolumeClaimRetentionPolicy = oneOf(v, nil, &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: "Delete"}, &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: "Delete"})
			if d.Spec.UpdateStrategy.Type == "" && v.maybe() {
				d.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: oneOf(v, nil, zero, ptr.To[int32](1)), MaxUnavailable: oneOf(v, nil, new(intstr.FromInt32(1)))}
			}
			return d
		},
		"DaemonSet": func() client.Object {
			d := v.daemonSet()
			d.Spec.Template = v.pod()
			d.Spec.Template.Spec.NodeSelector["none"] = "such"
			if d.Spec.UpdateStrategy.Type == "" && v.maybe() {
				d.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0))}
			}
			return d
		},
		"CronJob": func() client.Object {
			c := v.cronJob()
			c.Spec.JobTemplate.Spec.Template = onceOnly(v.pod())
			c.Spec.Suspend = oneOf(v, nil, new(true), new(false))
			c.Spec.ConcurrencyPolicy = oneOf(v, "", batchv1.ForbidConcurrent)
			c.Spec.TimeZone = oneOf(v, nil, new("Etc/UTC"))
			j := &c.Spec.JobTemplate.Spec
			if v.maybe() {
				j.CompletionMode = ptr.To(batchv1.IndexedCompletion)
				j.Completions = ptr.To[int32](3)
				if v.maybe() {
					j.BackoffLimit, j.BackoffLimitPerIndex, j.MaxFailedIndexes = nil, ptr.To[int32](1), ptr.To[int32](2)
				}
				// No success policy: when completions go before it, kube-apiserver 1.37 panics in its validation, and sends no answer.
			}
			j.PodFailurePolicy = oneOf(v, nil,
				&batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: "FailJob", OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{1}}}}},
				&batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: "Ignore", OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget"}}}}})
			j.Suspend = oneOf(v, nil, new(true))
			return c
		},
		"PodTemplate": func() client.Object { return &corev1.PodTemplate{Template: v.pod()} },
		"ReplicaSet": func() client.Object {
			return &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: zero, Selector: webLabels(), Template: v.pod()}}
		},
		"ReplicationController": func() client.Object {
			pod := v.pod()
			pod.Labels = oneOf(v, pod.Labels, map[string]string{"app": "web", "more": oneOf(v, "1", "2")})
			rc := &corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Replicas: zero, Template: &pod}}
			rc.Spec.Selector = oneOf(v, nil, pod.Labels)
			return rc
		},
		"PodDisruptionBudget": func() client.Object {
			b := v.budget()
			b.Spec.UnhealthyPodEvictionPolicy = oneOf(v, nil, ptr.To(policyv1.AlwaysAllow))
			b.Spec.Selector = oneOf(v, nil, webLabels(), &metav1.LabelSelector{}, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Exists"}}})
			return b
		},
		"NetworkPolicy":           func() client.Object { return v.networkPolicy() },
		"HorizontalPodAutoscaler": func() client.Object { return v.scaler() },
		"Ingress":                 func() client.Object { return v.ingress() },
		"Role": func() client.Object {
			return &rbacv1.Role{Rules: some(v, 3, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}},
				rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list"}, ResourceNames: oneOf(v, nil, []string{"a"})})}
		},
		"RoleBinding": func() client.Object {
			return &rbacv1.RoleBinding{Subjects: some(v, 3, rbacv1.Subject{Kind: oneOf(v, "User", "Group"), Name: "none", APIGroup: oneOf(v, "", rbacv1.GroupName)}, rbacv1.Subject{Kind: "ServiceAccount", Name: "x", Namespace: oneOf(v, "y", "z")}),
				RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "r", APIGroup: oneOf(v, "", rbacv1.GroupName)}}
		},
		"ValidatingWebhookConfiguration": func() client.Object { return v.webhooks() },
		"ValidatingAdmissionPolicy":      func() client.Object { return v.policy() },
		"PersistentVolume": func() client.Object {
			p := v.persistentVolume()
			p.Spec.NodeAffinity = nil
			return p
		},
		"IngressClass": func() client.Object {
			return &networkingv1.IngressClass{Spec: networkingv1.IngressClassSpec{Controller: "none.example/x", Parameters: oneOf(v, nil,
				&networkingv1.IngressClassParametersReference{Kind: "X", Name: "x", APIGroup: new("x.io")},
				&networkingv1.IngressClassParametersReference{Kind: "Y", Name: "x", Scope: new("Namespace"), Namespace: new("n")})}}
		},
		"Job": func() client.Object {
			j := v.job()
			j.Spec.Parallelism = oneOf(v, nil, ptr.To[int32](0), ptr.To[int32](2))
			return j
		},
	}
}

// nextNodePort gives each Service other node ports, from any on.
var nextNodePort = rand.Int32N(2767)

// addTo adds to a map that may be nil.
func addTo[V any](m map[string]V, k string, x V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[k] = x
	return m
}
