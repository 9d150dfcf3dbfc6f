package replicajob

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/types"
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
func Setup(mgr manager.Manager) error {
	return ReplicaJobs.Setup(mgr)
}

// Setup lets a manager run jobs of this kind. The manager's scheme must know the kind and those of client-go. Which gang
// schedulers the cluster has is asked here, and again while a job names one that it doesn't have.
//
// The manager's client must be set up as builder says: with EnableReadYourWritesConsistency, and, for gang schedulers
// that are not Kubernetes' own, with Unstructured.
func (k Kind[T]) Setup(mgr manager.Manager) error {
	if k.Name == "" || k.Spec == nil || k.Status == nil {
		return fmt.Errorf("%w: a replicajob.Kind needs a Name, a Spec and a Status", builder.ErrMisuse)
	}
	apis, err := newGangAPIs(mgr.GetScheme(), mgr.GetRESTMapper())
	if err != nil {
		return err
	}
	k.Schedulers = apis.found
	operator := k.Operator(mgr)
	apis.own = operator.OwnsLater
	return operator.External(func(ctx context.Context, job T, _ builder.View) (any, error) {
		return apis.forJob(ctx, k.Spec(job).RunPolicy.SchedulingPolicy)
	}).Complete()
}

// Operator describes the operator: its children, its watches and its plan. Tests run its Reconciler without a
// manager (nil).
func (k Kind[T]) Operator(mgr manager.Manager) *builder.Operator[T] {
	o := builder.NewOperator[T](mgr, k.Name).
		Owns(&corev1.Pod{}).
		Owns(&corev1.Service{}).
		Watches(&schedulingv1.PriorityClass{}, builder.ObservedByAll(), builder.EnqueueFor(jobsOfPriorityClass)).
		External(func(context.Context, T, builder.View) (any, error) { return k.Schedulers, nil }).
		Plan(k.Plan)
	for _, provider := range k.Schedulers {
		o.Owns(gangKind(provider))
	}
	return o
}

// jobsOfPriorityClass returns all jobs if a class comes or goes. Its value never changes.
func jobsOfPriorityClass(before, after *schedulingv1.PriorityClass) (all bool, _ []types.NamespacedName) {
	return before == nil || after == nil, nil
}
