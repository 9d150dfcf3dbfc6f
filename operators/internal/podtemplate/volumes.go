package podtemplate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// ShareVolumes adds volumes to a template, and mounts to each of its containers and init containers. A volume of the
// template takes the place of one of the same name, a container's own mount that of one at the same path.
// Without mounts nothing is added: nothing would use the volumes.
func ShareVolumes(template *corev1.PodTemplateSpec, volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	if len(mounts) == 0 {
		return
	}
	spec := &template.Spec
	for i := range volumes {
		if !HasVolume(spec.Volumes, volumes[i].Name) {
			spec.Volumes = append(spec.Volumes, *volumes[i].DeepCopy())
		}
	}
	eachContainer(spec, func(c *corev1.Container) {
		for i := range mounts {
			if !hasMountAt(c.VolumeMounts, mounts[i].MountPath) {
				c.VolumeMounts = append(c.VolumeMounts, *mounts[i].DeepCopy())
			}
		}
	})
}

// HasVolume reports whether one of the volumes has this name.
func HasVolume(volumes []corev1.Volume, name string) bool {
	return slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == name })
}

func hasMountAt(mounts []corev1.VolumeMount, path string) bool {
	return slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.MountPath == path })
}
