package podtemplate

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/operators/internal/names"
)

// AnnotateOwner annotates the pods of an owner with its name, if the name is too long for the label under the same key. With the label and
// the annotation a pod names its owner even if its Job is gone.
func AnnotateOwner(template *corev1.PodTemplateSpec, key, owner string) {
	if names.LabelValue(owner) != owner {
		template.Annotations = Merge(map[string]string{key: owner}, template.Annotations)
	}
}

// OwnerIn returns a function that returns the name of the owner that a pod names under a key; none without one. It is the function of a
// watch of pods.
func OwnerIn(key string) func(pod *corev1.Pod) []string {
	return func(pod *corev1.Pod) []string {
		if name := pod.Annotations[key]; name != "" {
			return []string{name}
		}
		if name := pod.Labels[key]; name != "" {
			return []string{name}
		}
		return nil
	}
}
