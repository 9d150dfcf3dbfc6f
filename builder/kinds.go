package builder

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// ConfigMap wants a ConfigMap.
func (b *Builder) ConfigMap(o *corev1.ConfigMap, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// Secret wants a Secret. stringData is merged into data, as the API server does.
func (b *Builder) Secret(o *corev1.Secret, opts ...ChildOption) *Builder { return b.Object(o, opts...) }

// Service wants a Service.
func (b *Builder) Service(o *corev1.Service, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// ServiceAccount wants a ServiceAccount.
func (b *Builder) ServiceAccount(o *corev1.ServiceAccount, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// PersistentVolumeClaim wants a PersistentVolumeClaim. As a child it goes with its owner, and so does its data.
func (b *Builder) PersistentVolumeClaim(o *corev1.PersistentVolumeClaim, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// Deployment wants a Deployment.
func (b *Builder) Deployment(o *appsv1.Deployment, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// StatefulSet wants a StatefulSet.
func (b *Builder) StatefulSet(o *appsv1.StatefulSet, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// DaemonSet wants a DaemonSet.
func (b *Builder) DaemonSet(o *appsv1.DaemonSet, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// Job wants a Job. A Job that has ended still exists: wanting it again doesn't run it again. One with
// spec.ttlSecondsAfterFinished doesn't for long; it would be made, and run, anew.
func (b *Builder) Job(o *batchv1.Job, opts ...ChildOption) *Builder { return b.Object(o, opts...) }

// CronJob wants a CronJob.
func (b *Builder) CronJob(o *batchv1.CronJob, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// PodDisruptionBudget wants a PodDisruptionBudget.
func (b *Builder) PodDisruptionBudget(o *policyv1.PodDisruptionBudget, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// NetworkPolicy wants a NetworkPolicy.
func (b *Builder) NetworkPolicy(o *networkingv1.NetworkPolicy, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}
