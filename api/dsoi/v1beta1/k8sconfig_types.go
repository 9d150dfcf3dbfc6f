package v1beta1

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// K8sConfigGroups are groups of Kubernetes configuration. In JSON they are a list, or a map from name to group; they are
// written as a list.
type K8sConfigGroups []K8sConfigGroup

// K8sConfigGroup is the Kubernetes configuration of nodes: their pods and the objects around them. Fields of Kubernetes
// have the same meaning as there.
type K8sConfigGroup struct {
	// Name is the group's name for nodes. Two groups of the same name are refused.
	Name string `json:"name"`

	// Image of the container, whose name is the node's. It is required, unless the application has a default.
	Image string `json:"image"`
	// ImagePullPolicy is Always, Never or IfNotPresent. Default: as in a pod.
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
	// ServiceAccountName is the pods' service account. Default: the namespace's default.
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// Env are environment variables of the container.
	Env []corev1.EnvVar `json:"env,omitempty"`
	// Ports of the container. They are also those of the headless Service that gives a StatefulSet's pods their names.
	Ports []corev1.ContainerPort `json:"ports,omitempty"`

	// LivenessProbe of the container. Default: none.
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`
	// ReadinessProbe of the container. Default: none, so that a pod counts as ready once it runs for minReadySeconds; an
	// upgrade may then proceed to the next node type before the last one serves.
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty"`
	// StartupProbe of the container. Default: none.
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`
	// MinReadySeconds is the time for which a pod must be ready, without a crash, before the next pod and the next node
	// type are changed: 0 to 599. Default: 0 with a readinessProbe; 5 without one, because a pod that crashes is ready
	// until it does.
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// Resources are the requests and limits of the container.
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// Volumes of the pods. The names of storageConfig, and "config", are refused.
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// VolumeMounts of the container, beside those of storageConfig and of the configuration.
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// StorageConfig are the volumes with the node's data: one for each pod of a StatefulSet, one for all pods of a
	// Deployment or DaemonSet.
	StorageConfig []StorageConfig `json:"storageConfig,omitempty"`

	// Service in front of the node's pods, called <cluster>-<node>. The operator sets its selector, another is refused.
	// Default: none. A StatefulSet has a headless one as well, <cluster>-<node>-headless.
	Service *corev1.ServiceSpec `json:"service,omitempty"`

	// NodeSelector selects the machines of the pods.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations of the pods.
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// Affinity of the pods.
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// PodMetadata are labels and annotations of the pods. Those that the operator sets itself are refused.
	PodMetadata Metadata `json:"podMetadata,omitzero"`

	// SecurityContext of the pods.
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
	// ContainerSecurityContext of the container.
	ContainerSecurityContext *corev1.SecurityContext `json:"containerSecurityContext,omitempty"`

	// UpdateStrategy defines how the pods of one node are replaced. Default: that of the workload's kind; for a
	// Deployment with a volume that only one machine can mount at a time, Recreate.
	UpdateStrategy *UpdateStrategy `json:"updateStrategy,omitempty"`
	// PodDisruptionBudget limits the number of pods of a node that may be evicted at a time. Default: none.
	PodDisruptionBudget *PodDisruptionBudget `json:"podDisruptionBudget,omitempty"`

	// Malformed is set if the group couldn't be decoded.
	Malformed *Malformed `json:"-"`
}

// Metadata are labels and annotations.
type Metadata struct {
	// Labels to add.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations to add.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// StorageConfig is a volume with a node's data.
type StorageConfig struct {
	// Name of the volume, unique in the group. The claims are called <name>-<cluster>-<node>-<index> of a StatefulSet,
	// <cluster>-<node>-<name> of others.
	Name string `json:"name"`
	// MountPath is the path in the container.
	MountPath string `json:"mountPath"`
	// Spec of the claim. For an existing claim only the requested storage can be changed, and only increased, if its
	// storage class allows that.
	Spec corev1.PersistentVolumeClaimSpec `json:"spec"`
}

// UpdateStrategy defines how the pods of a node are replaced. The node's kind determines the possible values.
type UpdateStrategy struct {
	// Type is RollingUpdate, OnDelete (not of a Deployment) or Recreate (of a Deployment only).
	Type string `json:"type,omitempty"`
	// RollingUpdate are the parameters of a rolling update.
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty"`
}

// RollingUpdate are the parameters of a rolling update.
type RollingUpdate struct {
	// Partition: pods of a StatefulSet with a lower index stay unchanged.
	Partition *int32 `json:"partition,omitempty"`
	// MaxUnavailable is the maximum number of unavailable pods at a time.
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MaxSurge is the maximum number of pods beyond replicas, for a Deployment or DaemonSet.
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}

// PodDisruptionBudget limits evictions of a node's pods. Exactly one of minAvailable and maxUnavailable is set.
type PodDisruptionBudget struct {
	// MinAvailable is the number of pods that must remain.
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`
	// MaxUnavailable is the number of pods that may be unavailable.
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// UnhealthyPodEvictionPolicy is IfHealthyBudget or AlwaysAllow. Default: as in policy/v1.
	UnhealthyPodEvictionPolicy *policyv1.UnhealthyPodEvictionPolicyType `json:"unhealthyPodEvictionPolicy,omitempty"`
}

// k8sConfigAliases are other names of a group's fields.
var k8sConfigAliases = map[string]string{
	"port":           "ports",
	"volumeMount":    "volumeMounts",
	"startUpProbe":   "startupProbe",
	"storageConfigs": "storageConfig",
}

// UnmarshalJSON reads a list of groups, or a map from name to group. It never fails; see [Malformed].
func (g *K8sConfigGroups) UnmarshalJSON(data []byte) error {
	*g = nil
	readGroups(data, func(name string, raw json.RawMessage, bad *Malformed) {
		group := K8sConfigGroup{Name: name, Malformed: bad}
		if bad == nil {
			group = readK8sConfigGroup(name, raw)
		}
		*g = append(*g, group)
	})
	for i := range *g {
		(*g)[i].Malformed.keep(data)
	}
	return nil
}

// MarshalJSON writes a list, or what couldn't be read as it was.
func (g K8sConfigGroups) MarshalJSON() ([]byte, error) {
	type plain K8sConfigGroup
	return writeList(g, func(group K8sConfigGroup) (any, *Malformed) { return plain(group), group.Malformed })
}

func readK8sConfigGroup(name string, raw json.RawMessage) K8sConfigGroup {
	type plain K8sConfigGroup
	var group plain
	fields := mapOf(raw)
	why := rename(fields, k8sConfigAliases)
	if err := readStrictly(fields, &group); why == "" {
		why = err
	}
	if why == "" {
		group.Name, why = nameOfGroup(name, group.Name)
	}
	if why != "" {
		group.Malformed = &Malformed{Why: why}
	}
	return K8sConfigGroup(group)
}
