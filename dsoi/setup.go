package dsoi

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
)

// Setup lets a manager run the application's clusters.
func (a *App[C]) Setup(mgr manager.Manager) error { return a.Operator(mgr).Complete() }

// Operator describes the operator of the application's clusters, to add to it what else it watches, or to test its
// Reconciler (with no manager).
//
// It watches pods and claims by an annotation that it gives them: in a large cluster, let the manager's cache hold only
// those that [Selector] selects.
func (a *App[C]) Operator(mgr manager.Manager) *builder.Operator[C] {
	o := builder.NewOperator[C](mgr, a.Name).
		Owns(&appsv1.StatefulSet{}).Owns(&appsv1.Deployment{}).Owns(&appsv1.DaemonSet{}).
		Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Owns(&corev1.PersistentVolumeClaim{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Owns(&appsv1.ControllerRevision{}).
		Watches(&corev1.Pod{}, builder.Referencing(namesCluster)).
		Watches(&corev1.PersistentVolumeClaim{}, builder.Referencing(namesCluster))
	if a.Scaling != nil {
		o = o.Watches(a.Scaling, builder.Referencing(namesScaledCluster))
	}
	return o.Plan(a.Plan)
}

// Selector selects all pods and claims of clusters, for the manager's cache: it need hold no others.
func Selector() labels.Selector {
	exists, err := labels.NewRequirement(LabelCluster, selection.Exists, nil)
	if err != nil {
		panic(err) // the label is a constant
	}
	return labels.NewSelector().Add(*exists)
}
