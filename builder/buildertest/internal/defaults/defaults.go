package defaults

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Set sets the defaults of an object. It doesn't change an object of an unknown kind.
func Set(obj runtime.Object) {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		deployment(o)
	case *appsv1.StatefulSet:
		statefulSet(o)
	case *appsv1.DaemonSet:
		daemonSet(o)
	case *appsv1.ReplicaSet:
		setIfNil(&o.Spec.Replicas, 1)
		podSpec(&o.Spec.Template.Spec)
	case *batchv1.Job:
		job(o)
	case *batchv1.CronJob:
		cronJob(o)
	case *corev1.Pod:
		pod(o)
	case *corev1.PodTemplate:
		podSpec(&o.Template.Spec)
	case *corev1.Service:
		service(o)
	case *corev1.ConfigMap:
		if o.Data == nil {
			o.Data = map[string]string{}
		}
	case *corev1.Secret:
		setIfZero(&o.Type, corev1.SecretTypeOpaque)
	case *corev1.PersistentVolumeClaim:
		claim(o)
	case *corev1.PersistentVolume:
		setIfZero(&o.Status.Phase, corev1.VolumePending)
		setIfZero(&o.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
		setIfNil(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	case *corev1.Namespace:
		namespace(o)
	case *networkingv1.NetworkPolicy:
		networkPolicy(o)
	case *autoscalingv2.HorizontalPodAutoscaler:
		autoscaler(o)
	case *rbacv1.RoleBinding:
		roleRef(&o.RoleRef, o.Subjects)
	case *rbacv1.ClusterRoleBinding:
		roleRef(&o.RoleRef, o.Subjects)
	}
}

func setIfNil[T any](p **T, value T) {
	if *p == nil {
		*p = new(value)
	}
}

func setIfZero[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}
