package operator

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
	"github.com/armature-dev/armature/examples/webapp/server"
)

// configDir is where a server finds its greeting.
const configDir = "/etc/webapp"

// named returns the metadata of every child: the name of the owner, and the labels that the selectors use.
func named(app *v1.WebApp) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: app.Name, Labels: labels(app)}
}

func labels(app *v1.WebApp) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "webapp", "app.kubernetes.io/instance": app.Name}
}

func greeting(app *v1.WebApp) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: named(app), Data: map[string]string{"greeting": app.Spec.Greeting}}
}

func servers(app *v1.WebApp) *appsv1.Deployment {
	podIP := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}
	config := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: app.Name}}
	return &appsv1.Deployment{
		ObjectMeta: named(app),
		Spec: appsv1.DeploymentSpec{
			Replicas: app.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels(app)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(app)},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{
						Name: "web", Image: app.Spec.Image, Command: app.Spec.Command,
						Env: []corev1.EnvVar{
							{Name: server.AddressEnv, ValueFrom: podIP},
							{Name: server.GreetingEnv, Value: configDir + "/greeting"},
						},
						Ports:        []corev1.ContainerPort{{Name: "http", ContainerPort: server.Port}},
						VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: configDir}},
						ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
							HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http")},
						}, PeriodSeconds: 1},
					}},
					Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: config}}},
				},
			},
		},
	}
}

func service(app *v1.WebApp) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: named(app),
		Spec: corev1.ServiceSpec{
			Selector: labels(app),
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}},
		},
	}
}

// budget lets a drain take away one server at a time.
func budget(app *v1.WebApp) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: named(app),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)),
			Selector:       &metav1.LabelSelector{MatchLabels: labels(app)},
		},
	}
}
