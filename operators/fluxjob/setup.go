package fluxjob

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

// Name is the operator's name: the field owner of its MiniClusters, and the reporter of its events.
const Name = "fluxjob"

// Setup lets a manager run FluxJobs and the FluxSetups that admit them. The manager's scheme must know the kinds of
// [v1alpha1], batch/v1 and core/v1. Another operator runs the MiniClusters. m has the manager's identity, and
// which part of the cluster its cache has: a queue has one manager.
func Setup(mgr manager.Manager, m admission.Manager) error {
	if err := admission.Setup(mgr, m); err != nil {
		return fmt.Errorf("set up the queues: %w", err)
	}
	return Operator(mgr, m).Complete()
}

// Operator describes the operator: what it owns, what it reads, and its plan. Tests run its Reconciler without a
// manager (nil). The watched pods are those with the job's name, among which are the pods of services, and pods whose MiniCluster or Job
// was deleted.
func Operator(mgr manager.Manager, m admission.Manager) *builder.Operator[*v1alpha1.FluxJob] {
	return builder.NewOperator[*v1alpha1.FluxJob](mgr, Name).
		Owns(&v1alpha1.MiniCluster{}, builder.Dependents(&batchv1.Job{})).
		Watches(&v1alpha1.FluxSetup{}, builder.ReferencedBy(queues), builder.EnqueueFor(jobsOfSetup(m))).
		Watches(&corev1.Namespace{}, builder.ReferencedBy(namespaceOf), builder.EnqueueFor(jobsOfNamespace)).
		Watches(&corev1.Pod{}, builder.Referencing(jobOfPod)).
		Plan(planFor(m))
}
