package jobflow

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/refusal"
)

// Name is the operator's name: the field owner of its Jobs, and the reporter of its events.
const Name = "jobflow"

// Setup lets a manager run JobFlows. The manager's scheme must know the kinds of [v1alpha1] and of batch/v1.
// The controller has controller-runtime's default options, changed by the functions given.
func Setup(mgr manager.Manager, change ...func(*controller.Options)) error {
	var options controller.Options
	for _, f := range change {
		f(&options)
	}
	return Operator(mgr).WithOptions(options).Complete()
}

// Operator describes the operator: what it owns, what it refers to, and its plan. Tests run its Reconciler without a
// manager (nil).
func Operator(mgr manager.Manager) *builder.Operator[*v1alpha1.JobFlow] {
	return builder.NewOperator[*v1alpha1.JobFlow](mgr, Name).
		Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{})).
		Watches(&corev1.Pod{}, builder.Referencing(flowsOf)).
		Watches(&v1alpha1.JobTemplate{}, builder.ReferencedBy(TemplateNames)).
		External(refusal.Sense[*v1alpha1.JobFlow](mgr)).
		Plan(Plan)
}
