package volumes

import (
	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// UsesConfigMap reports whether the pod's volumes or environments refer to it.
func UsesConfigMap(pod *corev1.Pod, name string) bool {
	found := false
	podutil.VisitPodConfigmapNames(pod, func(n string) bool {
		found = found || n == name
		return !found
	})
	return found
}

// UsesSecret reports whether the pod's volumes or environments refer to it.
func UsesSecret(pod *corev1.Pod, name string) bool {
	found := false
	podutil.VisitPodSecretNames(pod, func(n string) bool {
		found = found || n == name
		return !found
	})
	return found
}

// UsesTokens reports whether a volume of the pod has a token that expires.
func UsesTokens(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if p := pod.Spec.Volumes[i].Projected; p != nil {
			for j := range p.Sources {
				if p.Sources[j].ServiceAccountToken != nil {
					return true
				}
			}
		}
	}
	return false
}
