package dsoi

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is the template of the node's pods. It shares nothing with the spec.
func (r *renderer) pod(configured bool) *corev1.PodTemplateSpec {
	k8s := r.node.K8s.DeepCopy()
	labels := r.labels()
	maps.Copy(labels, k8s.PodMetadata.Labels)
	annotations := maps.Clone(k8s.PodMetadata.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationCluster] = r.cluster
	container := corev1.Container{
		Name: r.node.Name, Image: k8s.Image, ImagePullPolicy: k8s.ImagePullPolicy,
		Env: k8s.Env, Ports: k8s.Ports, Resources: k8s.Resources,
		LivenessProbe: k8s.LivenessProbe, ReadinessProbe: k8s.ReadinessProbe, StartupProbe: k8s.StartupProbe,
		SecurityContext: k8s.ContainerSecurityContext,
	}
	spec := corev1.PodSpec{
		ServiceAccountName: k8s.ServiceAccountName, NodeSelector: k8s.NodeSelector, Tolerations: k8s.Tolerations,
		Affinity: k8s.Affinity, SecurityContext: k8s.SecurityContext, Volumes: k8s.Volumes,
	}
	if configured {
		source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configName(r.node.Workload)}}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: configVolume, VolumeSource: corev1.VolumeSource{ConfigMap: source}})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: configVolume, MountPath: r.configPath})
	}
	for _, s := range k8s.StorageConfig {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: s.Name, MountPath: s.MountPath})
		if r.node.Kind != statefulSet { // a StatefulSet makes a claim, and the volume, for each pod
			source := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(r.node.Workload, s.Name)}
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: s.Name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: source}})
		}
	}
	container.VolumeMounts = append(container.VolumeMounts, k8s.VolumeMounts...)
	spec.Containers = []corev1.Container{container}
	return &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations}, Spec: spec}
}
