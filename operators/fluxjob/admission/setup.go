package admission

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// Name is the operator's name: the writer of the FluxSetups' status, and the reporter of its events.
const Name = "fluxsetup"

// Setup lets a manager run FluxSetups, one pass at a time: each observes the reservations that the ones before it have written.
func Setup(mgr manager.Manager, m Manager) error {
	return Operator(mgr, m).WithOptions(controller.Options{MaxConcurrentReconciles: 1}).Complete()
}

// Operator describes the operator: what it reads, and its plan. Tests run its Reconciler without a manager (nil).
func Operator(mgr manager.Manager, m Manager) *builder.Operator[*v1alpha1.FluxSetup] {
	return builder.NewOperator[*v1alpha1.FluxSetup](mgr, Name).
		Watches(&v1alpha1.FluxJob{}, builder.ObservedByAll(), builder.EnqueueFor(queuesOfJob)).
		Watches(&v1alpha1.FluxSetup{}, builder.ObservedByAll(), builder.EnqueueFor(m.queuesOfSetup)).
		Watches(&v1alpha1.MiniCluster{}, builder.ObservedByAll(), builder.EnqueueFor(queueOfCluster)).
		Watches(&corev1.Namespace{}, builder.ObservedByAll(), builder.EnqueueFor(queuesOfNamespace)).
		Plan(m.Plan)
}
