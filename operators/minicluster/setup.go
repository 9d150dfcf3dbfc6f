package minicluster

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/refusal"
)

// Name is the operator's name: the field owner of what clusters have, and the reporter of their events.
const Name = "minicluster"

// Setup lets a manager run MiniClusters. The manager's scheme must know the kinds of [v1alpha1], core/v1, apps/v1 and
// batch/v1.
func Setup(mgr manager.Manager) error {
	return Operator(mgr, Planner{NewCertificate: NewCertificate}).Complete()
}

// Operator describes the operator: what it owns, what it reads, and its plan. Tests run its Reconciler without a manager (nil), and
// with certificates that are the same each time. It has pods in two ways: Dependents are the pods of the existing Job, and the watched
// pods are those with the MiniCluster's name, among which are pods whose Job was deleted.
func Operator(mgr manager.Manager, planner Planner) *builder.Operator[*v1alpha1.MiniCluster] {
	return builder.NewOperator[*v1alpha1.MiniCluster](mgr, Name).
		Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{})).
		Watches(&corev1.Pod{}, builder.Referencing(clusterOf)).
		Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Owns(&appsv1.Deployment{}).
		Owns(&corev1.Secret{}, builder.ByName(secretsOf)). // watching them takes the right to read all Secrets
		External(refusal.External[*v1alpha1.MiniCluster](mgr)).
		Plan(planner.Plan)
}

// clusterOf returns the name of the MiniCluster that a pod of a Job names.
func clusterOf(pod *corev1.Pod) []string {
	if name := pod.Labels[LabelMiniCluster]; name != "" && pod.Labels[LabelRole] == "" {
		return []string{name}
	}
	return nil
}
