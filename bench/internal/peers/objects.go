package peers

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// podLabels are the ones that operator-runtime's Deployments must have.
func podLabels(owner string) map[string]string { return map[string]string{"custom_resource": owner} }

// deployments are what an owner wants: Deployments as people write them.
func deployments(owner *corev1.ConfigMap, n int) []*appsv1.Deployment {
	all := make([]*appsv1.Deployment, n)
	for i := range all {
		all[i] = deployment(owner, i)
	}
	return all
}

func deployment(owner *corev1.ConfigMap, i int) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.Namespace, Name: fmt.Sprintf("web-%04d", i),
			Labels: map[string]string{"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": owner.Name},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: podLabels(owner.Name)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: podLabels(owner.Name)},
				Spec:       podSpec(i),
			},
		},
	}
}

func podSpec(i int) corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "web", Image: "nginx:1.29", Args: []string{"-g", "daemon off;"},
			Env:          []corev1.EnvVar{{Name: "INDEX", Value: fmt.Sprint(i)}, {Name: "MODE", Value: "production"}},
			Ports:        []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
			},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http")},
			}},
		}},
		Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}
}
