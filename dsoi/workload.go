package dsoi

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// workload runs the node's pods.
func (r *renderer) workload(pod *corev1.PodTemplateSpec) client.Object {
	meta := r.meta(r.node.Workload)
	selector := &metav1.LabelSelector{MatchLabels: selector(r.cluster, r.node.Name)}
	replicas := new(ptr.Deref(r.node.Replicas, 1))
	settles := minReady(&r.node.K8s, pod)
	switch r.node.Kind {
	case deployment:
		return &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
			Replicas: replicas, Selector: selector, Template: *pod, Strategy: ofDeployment(&r.node.K8s), MinReadySeconds: settles,
		}}
	case daemonSet:
		return &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{
			Selector: selector, Template: *pod, UpdateStrategy: ofDaemonSet(r.node.K8s.UpdateStrategy), MinReadySeconds: settles,
		}}
	default:
		return &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			Replicas: replicas, Selector: selector, Template: *pod, UpdateStrategy: ofStatefulSet(r.node.K8s.UpdateStrategy),
			MinReadySeconds: settles, ServiceName: headlessName(r.node.Workload),
			// Pods are started at once. And a pod that can't start is replaced when the template is mended: with
			// OrderedReady it would be waited for, until someone deletes it.
			PodManagementPolicy:                  appsv1.ParallelPodManagement,
			VolumeClaimTemplates:                 r.claimTemplates(),
			PersistentVolumeClaimRetentionPolicy: r.retention(),
		}}
	}
}

// unprobed is how long, in seconds, a pod without a readiness probe must run to count as available. It is ready as soon
// as it has started, also one that crashes a moment later: an upgrade would go on in that moment.
const unprobed = 5

// minReady is how long a pod must be ready to count as available.
func minReady(group *v1beta1.K8sConfigGroup, pod *corev1.PodTemplateSpec) int32 {
	switch {
	case group.MinReadySeconds != nil:
		return *group.MinReadySeconds
	case pod.Spec.Containers[0].ReadinessProbe == nil:
		return unprobed
	default:
		return 0
	}
}

// claimTemplates are what a StatefulSet makes claims from. They can't be changed, so nothing is in them that could.
func (r *renderer) claimTemplates() []corev1.PersistentVolumeClaim {
	var templates []corev1.PersistentVolumeClaim
	for _, s := range r.node.K8s.StorageConfig {
		templates = append(templates, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: s.Name, Annotations: r.claimAnnotations(s.Name)},
			Spec:       *s.Spec.DeepCopy(),
		})
	}
	return templates
}

// retention says what becomes of a StatefulSet's claims. Those of pods that are scaled away stay: they may come back.
func (r *renderer) retention() *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	policy := &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}
	if r.node.Reclaim == v1beta1.ReclaimDelete {
		policy.WhenDeleted = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	return policy
}

// claims are the volumes that all pods of a Deployment or DaemonSet share.
func (r *renderer) claims() []*corev1.PersistentVolumeClaim {
	var claims []*corev1.PersistentVolumeClaim
	for _, s := range r.node.K8s.StorageConfig {
		meta := r.meta(claimName(r.node.Workload, s.Name))
		meta.Annotations = r.claimAnnotations(s.Name)
		claims = append(claims, &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: *s.Spec.DeepCopy()})
	}
	return claims
}

func (r *renderer) claimAnnotations(storage string) map[string]string {
	return map[string]string{AnnotationCluster: r.cluster, AnnotationStorage: storage}
}
