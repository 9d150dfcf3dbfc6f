package jobflow

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
	"github.com/armature-dev/armature/operators/internal/refusal"
)

// Name is the operator's name: the field owner of its Jobs, and the reporter of its events.
const Name = "jobflow"

// Setup lets a manager run JobFlows. The manager's scheme must know the kinds of [v1alpha1], of batch/v1 and of v1.
func Setup(mgr manager.Manager) error {
	return Operator(mgr).Complete()
}

// Operator describes the operator: what it owns, what it reads, and its plan. Tests run its Reconciler without a manager
// (nil). It has pods in two ways: Dependents are the pods of existing Jobs, which say early how a Job ends, and the watched pods are
// those with the JobFlow's name, among which are pods whose Job was deleted. External finds out why a Job has no pod.
func Operator(mgr manager.Manager) *builder.Operator[*v1alpha1.JobFlow] {
	return builder.NewOperator[*v1alpha1.JobFlow](mgr, Name).
		Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{})).
		Watches(&corev1.Pod{}, builder.Referencing(podtemplate.OwnerIn(LabelJobFlow))).
		Watches(&v1alpha1.JobTemplate{}, builder.ReferencedBy(TemplateNames)).
		External(refusal.External[*v1alpha1.JobFlow](mgr)).
		Plan(Plan)
}
