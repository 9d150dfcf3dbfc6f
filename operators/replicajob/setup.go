package replicajob

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// Name is the name of the operator of ReplicaJobs.
const Name = "replicajob"

// ReplicaJobs is the kind ReplicaJob: the engine as it is, without anything special.
var ReplicaJobs = Kind[*v1alpha1.ReplicaJob]{
	Name:        Name,
	Spec:        func(j *v1alpha1.ReplicaJob) v1alpha1.ReplicaJobSpec { return j.Spec },
	Status:      func(j *v1alpha1.ReplicaJob) *v1alpha1.ReplicaJobStatus { return &j.Status },
	ClusterSpec: clusterSpec,
}

// Setup lets a manager run ReplicaJobs. The manager's scheme must know the kinds of [v1alpha1] and those of client-go.
// The controller has controller-runtime's default options, changed by the functions given.
func Setup(mgr manager.Manager, change ...func(*controller.Options)) error {
	return ReplicaJobs.Setup(mgr, change...)
}

// Setup lets a manager run jobs of this kind. The manager's scheme must know the kind and those of client-go. Which gang
// schedulers the cluster has is asked once, here.
//
// The manager's client must be set up as builder says: with EnableReadYourWritesConsistency, and, for gang schedulers
// that are not Kubernetes' own, with Unstructured.
func (k Kind[T]) Setup(mgr manager.Manager, change ...func(*controller.Options)) error {
	if k.Name == "" || k.Spec == nil || k.Status == nil {
		return fmt.Errorf("%w: a replicajob.Kind needs a Name, a Spec and a Status", builder.ErrMisuse)
	}
	var err error
	if k.Schedulers, err = schedulersOf(mgr); err != nil {
		return err
	}
	var options controller.Options
	for _, f := range change {
		f(&options)
	}
	return k.Operator(mgr).WithOptions(options).Complete()
}

// Operator describes the operator: what it owns, what it looks at, and its plan. Tests run its Reconciler without a
// manager (nil).
func (k Kind[T]) Operator(mgr manager.Manager) *builder.Operator[T] {
	o := builder.NewOperator[T](mgr, k.Name).
		Owns(&corev1.Pod{}, &corev1.Service{}).
		Reads(&schedulingv1.PriorityClass{}, func(_, _ client.Object) bool { return false }). // their values never change
		Plan(k.Plan)
	for _, provider := range k.Schedulers {
		o.Owns(gangKind(provider))
	}
	return o
}

// schedulersOf asks the cluster which gang schedulers' APIs it has.
func schedulersOf(mgr manager.Manager) ([]v1alpha1.GangProvider, error) {
	var all []v1alpha1.GangProvider
	for _, provider := range []v1alpha1.GangProvider{
		v1alpha1.GangKubernetes, v1alpha1.GangVolcano, v1alpha1.GangSchedulerPlugins, v1alpha1.GangPodDisruptionBudget,
	} {
		gvk, err := apiutil.GVKForObject(gangKind(provider), mgr.GetScheme())
		if err != nil {
			return nil, fmt.Errorf("find the API of gang scheduler %s: %w", provider, err)
		}
		_, err = mgr.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		switch {
		case meta.IsNoMatchError(err):
		case err != nil:
			return nil, fmt.Errorf("find the API of gang scheduler %s: %w", provider, err)
		default:
			all = append(all, provider)
		}
	}
	return all, nil
}
