package podenv

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
)

// Field returns a field of the pod as the downward API gives it.
func Field(pod *corev1.Pod, ref *corev1.ObjectFieldSelector) (string, error) {
	switch ref.FieldPath {
	case "spec.nodeName", "spec.host":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP":
		return pod.Status.HostIP, nil
	case "status.hostIPs":
		ips := make([]string, 0, len(pod.Status.HostIPs))
		for _, ip := range pod.Status.HostIPs {
			ips = append(ips, ip.IP)
		}
		return strings.Join(ips, ","), nil
	case "status.podIP":
		return pod.Status.PodIP, nil
	case "status.podIPs":
		ips := make([]string, 0, len(pod.Status.PodIPs))
		for _, ip := range pod.Status.PodIPs {
			ips = append(ips, ip.IP)
		}
		return strings.Join(ips, ","), nil
	}
	value, err := fieldpath.ExtractFieldPathAsString(pod, ref.FieldPath)
	if err != nil {
		return "", fmt.Errorf("fieldRef %q: %w", ref.FieldPath, err)
	}
	return value, nil
}

// Resource returns a request or limit of a container, by default of the given
// one. A limit that is not set is what the node can give.
func Resource(pod *corev1.Pod, ref *corev1.ResourceFieldSelector, container string, allocatable corev1.ResourceList) (string, error) {
	if ref.ContainerName != "" {
		container = ref.ContainerName
	}
	value, err := resource.ExtractResourceValueByContainerNameAndNodeAllocatable(ref, pod, container, allocatable)
	if err != nil {
		return "", fmt.Errorf("resourceFieldRef %q of container %q: %w", ref.Resource, container, err)
	}
	return value, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
