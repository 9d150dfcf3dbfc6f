package builder

import (
	"context"

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

// ReconcileConfigMap applies the ConfigMaps that are wanted, and nothing else. It prunes nothing; see ReconcileStore.
func (b *Builder) ReconcileConfigMap(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind())
}

// ReconcileSecret applies the Secrets that are wanted, and nothing else.
func (b *Builder) ReconcileSecret(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, corev1.SchemeGroupVersion.WithKind("Secret").GroupKind())
}

// ReconcileService applies the Services that are wanted, and nothing else.
func (b *Builder) ReconcileService(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, corev1.SchemeGroupVersion.WithKind("Service").GroupKind())
}

// ReconcileServiceAccount applies the ServiceAccounts that are wanted, and nothing else.
func (b *Builder) ReconcileServiceAccount(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, corev1.SchemeGroupVersion.WithKind("ServiceAccount").GroupKind())
}

// ReconcilePersistentVolumeClaim applies the PersistentVolumeClaims that are wanted, and nothing else.
func (b *Builder) ReconcilePersistentVolumeClaim(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim").GroupKind())
}

// ReconcileDeployment applies the Deployments that are wanted, and nothing else.
func (b *Builder) ReconcileDeployment(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind())
}

// ReconcileStatefulSet applies the StatefulSets that are wanted, and nothing else.
func (b *Builder) ReconcileStatefulSet(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, appsv1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind())
}

// ReconcileDaemonSet applies the DaemonSets that are wanted, and nothing else.
func (b *Builder) ReconcileDaemonSet(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, appsv1.SchemeGroupVersion.WithKind("DaemonSet").GroupKind())
}

// ReconcileJob applies the Jobs that are wanted, and nothing else.
func (b *Builder) ReconcileJob(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, batchv1.SchemeGroupVersion.WithKind("Job").GroupKind())
}

// ReconcileCronJob applies the CronJobs that are wanted, and nothing else.
func (b *Builder) ReconcileCronJob(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, batchv1.SchemeGroupVersion.WithKind("CronJob").GroupKind())
}

// ReconcilePodDisruptionBudget applies the PodDisruptionBudgets that are wanted, and nothing else.
func (b *Builder) ReconcilePodDisruptionBudget(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget").GroupKind())
}

// ReconcileNetworkPolicy applies the NetworkPolicies that are wanted, and nothing else.
func (b *Builder) ReconcileNetworkPolicy(ctx context.Context) (Result, error) {
	return b.reconcileKind(ctx, networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy").GroupKind())
}
