package minicluster

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// podTemplate renders the pods of the cluster.
func podTemplate(c *v1alpha1.MiniCluster) corev1.PodTemplateSpec {
	spec := podSpec(c, c.Spec.Containers)
	spec.RestartPolicy = corev1.RestartPolicyNever
	if bringsFlux(c) {
		spec.InitContainers = append(spec.InitContainers, viewContainer(c))
		spec.ImagePullSecrets = pullSecrets(c.Spec.Containers, c.Spec.Flux.Container.ImagePullSecret)
	}
	beside := sidecars(c)
	for i := range beside {
		spec.InitContainers = append(spec.InitContainers, sidecar(c, &beside[i]))
	}
	spec.Containers = []corev1.Container{workContainer(c)}
	spec.Volumes = append(ownVolumes(c), spec.Volumes...)
	if !c.Spec.Network.DisableAffinity {
		keepTogether(c, &spec)
	}
	if len(c.Spec.Pod.Resources) > 0 {
		spec.Resources = &corev1.ResourceRequirements{Requests: maps.Clone(c.Spec.Pod.Resources)}
	}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels:      podtemplate.Merge(podLabels(c), podtemplate.Merge(c.Spec.Pod.Labels, c.Spec.JobLabels)),
			Annotations: maps.Clone(c.Spec.Pod.Annotations),
		},
		Spec: spec,
	}
}

// podSpec renders what the cluster's pods and the services' pod have in common.
func podSpec(c *v1alpha1.MiniCluster, containers []v1alpha1.MiniClusterContainer) corev1.PodSpec {
	pod := &c.Spec.Pod
	spec := corev1.PodSpec{
		Subdomain:                    headlessName(c),
		ServiceAccountName:           pod.ServiceAccountName,
		AutomountServiceAccountToken: pod.AutomountServiceAccountToken,
		SchedulerName:                pod.SchedulerName,
		NodeSelector:                 maps.Clone(pod.NodeSelector),
		DNSPolicy:                    pod.DNSPolicy,
		HostIPC:                      pod.HostIPC,
		HostPID:                      pod.HostPID,
		SecurityContext:              securityContext(c),
		ImagePullSecrets:             pullSecrets(containers, ""),
		Volumes:                      userVolumes(containers),
	}
	if len(pod.NodeAffinity) > 0 {
		spec.Affinity = &corev1.Affinity{NodeAffinity: nodeAffinity(pod.NodeAffinity)}
	}
	if c.Spec.ShareProcessNamespace {
		spec.ShareProcessNamespace = new(true)
	}
	if pod.RuntimeClassName != "" {
		spec.RuntimeClassName = new(pod.RuntimeClassName)
	}
	for i := range pod.Tolerations {
		spec.Tolerations = append(spec.Tolerations, *pod.Tolerations[i].DeepCopy())
	}
	for i := range c.Spec.ResourceClaims {
		spec.ResourceClaims = append(spec.ResourceClaims, *c.Spec.ResourceClaims[i].DeepCopy())
	}
	return spec
}

// securityContext is the pods' own. A user other than root can't read the certificate, which the kubelet writes as root,
// unless it is in the volumes' group: then that is the user's own id.
func securityContext(c *v1alpha1.MiniCluster) *corev1.PodSecurityContext {
	context := c.Spec.Pod.SecurityContext.DeepCopy()
	if context != nil && ptr.Deref(context.RunAsUser, 0) != 0 && context.FSGroup == nil {
		context.FSGroup = new(*context.RunAsUser)
	}
	return context
}

// pullSecrets returns the Secrets to pull images with, each once.
func pullSecrets(containers []v1alpha1.MiniClusterContainer, another string) []corev1.LocalObjectReference {
	var all []corev1.LocalObjectReference
	add := func(name string) {
		if ref := (corev1.LocalObjectReference{Name: name}); name != "" && !slices.Contains(all, ref) {
			all = append(all, ref)
		}
	}
	for i := range containers {
		add(containers[i].ImagePullSecret)
	}
	add(another)
	return all
}

// nodeAffinity requires one of some values of each label.
func nodeAffinity(values map[string][]string) *corev1.NodeAffinity {
	var term corev1.NodeSelectorTerm
	for _, label := range slices.Sorted(maps.Keys(values)) {
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: label, Operator: corev1.NodeSelectorOpIn, Values: slices.Clone(values[label]),
		})
	}
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{term},
	}}
}

// keepTogether prefers one zone for all pods, and a node for each: brokers talk much, and each believes to have a node.
func keepTogether(c *v1alpha1.MiniCluster, spec *corev1.PodSpec) {
	prefer := func(topology string) []corev1.WeightedPodAffinityTerm {
		return []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{LabelUID: string(c.UID)}},
			TopologyKey:   topology,
		}}}
	}
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	spec.Affinity.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: prefer(corev1.LabelTopologyZone)}
	spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: prefer(corev1.LabelHostname)}
}

// labels are those of all that a cluster has.
func labels(c *v1alpha1.MiniCluster) map[string]string {
	return map[string]string{LabelMiniCluster: c.Name}
}

// podLabels are those of its pods. Only pods with the builder's label are in the manager's memory.
func podLabels(c *v1alpha1.MiniCluster) map[string]string {
	return map[string]string{
		wellknown.LabelManagedBy: wellknown.ManagedBy,
		LabelMiniCluster:         c.Name,
		LabelUID:                 string(c.UID),
		LabelAttempt:             itoa(c.Status.Restarts),
	}
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }
