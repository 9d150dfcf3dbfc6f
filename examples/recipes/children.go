package recipes

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

func labels(app *v1.WebApp) map[string]string {
	return map[string]string{"app.kubernetes.io/instance": app.Name}
}

func template(app *v1.WebApp) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels(app)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: app.Spec.Image}}},
	}
}

func servers(app *v1.WebApp) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: app.Name},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels(app)}, Template: template(app)},
	}
}

func storage(app *v1.WebApp, size resource.Quantity) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: app.Name},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: app.Name, Selector: &metav1.LabelSelector{MatchLabels: labels(app)}, Template: template(app),
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
				},
			}},
		},
	}
}
