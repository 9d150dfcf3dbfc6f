package podtemplate

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Globals renders global parameters into a template.
func Globals(template *corev1.PodTemplateSpec, params *v1alpha1.GlobalParams) {
	template.Labels = Merge(template.Labels, params.Labels)
	template.Annotations = Merge(template.Annotations, params.Annotations)
	Env(template, params.Env)
	if params.NodeName != "" {
		OnNode(&template.Spec, params.NodeName)
	}
}

// Env sets variables in every container and init container, before those that a container sets itself. A container's own
// variable of the same name keeps its value.
func Env(template *corev1.PodTemplateSpec, env []corev1.EnvVar) {
	eachContainer(&template.Spec, func(c *corev1.Container) { c.Env = mergeEnv(c.Env, env) })
}

// Merge returns a map with all of own, and of defaults the keys that own doesn't have. Nil if there are none.
func Merge(own, defaults map[string]string) map[string]string {
	if len(own)+len(defaults) == 0 {
		return nil
	}
	merged := make(map[string]string, len(own)+len(defaults))
	maps.Copy(merged, defaults)
	maps.Copy(merged, own)
	return merged
}

// mergeEnv puts the defaults that own doesn't name before own, where own's values can refer to them as $(NAME).
func mergeEnv(own, defaults []corev1.EnvVar) []corev1.EnvVar {
	if len(defaults) == 0 {
		return own
	}
	named := make(map[string]bool, len(own))
	for i := range own {
		named[own[i].Name] = true
	}
	merged := make([]corev1.EnvVar, 0, len(own)+len(defaults))
	for i := range defaults {
		if !named[defaults[i].Name] {
			merged = append(merged, *defaults[i].DeepCopy())
		}
	}
	return append(merged, own...)
}

// eachContainer calls f with each init container and container, sidecars included.
func eachContainer(spec *corev1.PodSpec, f func(*corev1.Container)) {
	for i := range spec.InitContainers {
		f(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		f(&spec.Containers[i])
	}
}
