package fluxjob

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		panic(err)
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	return scheme
}

// crds tell the fake server which kinds are in no namespace, and their defaults.
var crds = buildertest.WithCRDs("../../config/crd")

// makeSetup returns a setup that the manager of the tests has already: one write less to crash after.
func makeSetup(name string, change ...func(*v1alpha1.FluxSetupSpec)) *v1alpha1.FluxSetup {
	s := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid"), Generation: 1}}
	s.Status.Manager = &v1alpha1.FluxSetupManager{Name: admission.Manager{}.String()}
	for _, f := range change {
		f(&s.Spec)
	}
	return s
}

// clusters limits the number of MiniClusters.
func clusters(n int32) func(*v1alpha1.FluxSetupSpec) {
	return func(s *v1alpha1.FluxSetupSpec) { s.Quota.MiniClusters = &n }
}

// makeJob returns a job that was created so many seconds after the epoch.
func makeJob(name string, second int, change ...func(*v1alpha1.FluxJobSpec)) *v1alpha1.FluxJob {
	job := &v1alpha1.FluxJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(name + "-uid"), Generation: 1,
			CreationTimestamp: metav1.NewTime(buildertest.Epoch.Add(time.Duration(second) * time.Second)),
		},
		Spec: v1alpha1.FluxJobSpec{Image: "busybox:1.28", Command: "true", Size: ptr.To[int32](2), Queue: "q"},
	}
	for _, f := range change {
		f(&job.Spec)
	}
	return job
}

func priority(n int32) func(*v1alpha1.FluxJobSpec) {
	return func(s *v1alpha1.FluxJobSpec) { s.Priority = &n }
}

func requests(objs ...client.Object) []reconcile.Request {
	var all []reconcile.Request
	for _, o := range objs {
		all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
	}
	return all
}

// miniClusters is a World that plays the operator of the MiniClusters, and the Jobs' controller: a cluster that isn't
// suspended takes a step each round, from starting to running to its end, and one that is suspended stops.
type miniClusters struct {
	// ends says how a cluster that runs ends: with true, well; with nil it goes on running.
	ends func(*v1alpha1.MiniCluster) *bool
	// starts says whether a cluster's pods become ready. Nil: they do.
	starts func(*v1alpha1.MiniCluster) bool
	// refuses says whether a cluster's spec is invalid. Nil: none is.
	refuses func(*v1alpha1.MiniCluster) bool
}

func (w miniClusters) play(ctx context.Context, c client.Client) error {
	var list v1alpha1.MiniClusterList
	if err := c.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		before := list.Items[i].DeepCopy()
		cluster := &list.Items[i]
		if cluster.DeletionTimestamp != nil || isOver(cluster) {
			continue
		}
		if w.refuses != nil && w.refuses(cluster) {
			cluster.Status.State, cluster.Status.ObservedGeneration = v1alpha1.MiniClusterStatePending, cluster.Generation
			meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
				Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec, Message: "no",
				ObservedGeneration: cluster.Generation, LastTransitionTime: metav1.NewTime(buildertest.Epoch)})
		} else {
			if err := w.playJob(ctx, c, cluster); err != nil {
				return err
			}
			w.step(cluster)
		}
		if before.Status.State != cluster.Status.State || before.Status.ObservedGeneration != cluster.Status.ObservedGeneration {
			if err := c.Status().Update(ctx, cluster); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w miniClusters) step(cluster *v1alpha1.MiniCluster) {
	cluster.Status.ObservedGeneration = cluster.Generation
	now := metav1.NewTime(buildertest.Epoch)
	set := func(kind string, is bool, reason string) {
		value := metav1.ConditionFalse
		if is {
			value = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
			Type: kind, Status: value, Reason: reason, LastTransitionTime: now, ObservedGeneration: cluster.Generation})
	}
	switch state := cluster.Status.State; {
	case cluster.Spec.Suspend:
		cluster.Status.State = v1alpha1.MiniClusterStateSuspended
		set(v1alpha1.MiniClusterPodsReady, false, v1alpha1.ReasonSuspended)
		set(v1alpha1.MiniClusterRunning, false, v1alpha1.ReasonSuspended)
	case state == "" || state == v1alpha1.MiniClusterStateSuspended:
		cluster.Status.State = v1alpha1.MiniClusterStateStarting
		set(v1alpha1.MiniClusterAdmitted, true, v1alpha1.ReasonAdmitted)
	case state == v1alpha1.MiniClusterStateStarting:
		if w.starts != nil && !w.starts(cluster) {
			return
		}
		cluster.Status.State = v1alpha1.MiniClusterStateRunning
		set(v1alpha1.MiniClusterPodsReady, true, v1alpha1.ReasonPodsReady)
		set(v1alpha1.MiniClusterRunning, true, v1alpha1.ReasonRunning)
	default:
		if w.ends == nil {
			return
		}
		switch well := w.ends(cluster); {
		case well == nil:
		case *well:
			cluster.Status.State, cluster.Status.ExitCode = v1alpha1.MiniClusterStateSucceeded, ptr.To[int32](0)
			set(v1alpha1.ConditionSucceeded, true, v1alpha1.ReasonSucceeded)
		default:
			cluster.Status.State, cluster.Status.ExitCode = v1alpha1.MiniClusterStateFailed, ptr.To[int32](3)
			set(v1alpha1.ConditionFailed, true, v1alpha1.ReasonLeaderFailed)
		}
	}
}

// playJob gives a cluster its Job, suspends and resumes it, and lets its pods stop.
func (w miniClusters) playJob(ctx context.Context, c client.Client, cluster *v1alpha1.MiniCluster) error {
	job := &batchv1.Job{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(cluster), job); err != nil {
		if client.IgnoreNotFound(err) != nil || cluster.Spec.Suspend {
			return client.IgnoreNotFound(err)
		}
		job = &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: cluster.Namespace, Name: cluster.Name,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cluster, v1alpha1.GroupVersion.WithKind("MiniCluster"))},
			},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28"}}}}},
		}
		return c.Create(ctx, job)
	}
	if ptr.Deref(job.Spec.Suspend, false) != cluster.Spec.Suspend {
		job.Spec.Suspend = new(cluster.Spec.Suspend)
		return c.Update(ctx, job)
	}
	active, suspended := cluster.Spec.Size, corev1.ConditionFalse
	if cluster.Spec.Suspend {
		active, suspended = 0, corev1.ConditionTrue
	} else if well := w.endsOf(cluster); well != nil {
		active = 0
	}
	if job.Status.Active == active && (outcome.Condition(job, batchv1.JobSuspended) != nil) == (suspended == corev1.ConditionTrue) {
		return nil
	}
	job.Status.Active = active
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: suspended}}
	if active == 0 && !cluster.Spec.Suspend {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue})
	}
	return c.Status().Update(ctx, job)
}

func (w miniClusters) endsOf(cluster *v1alpha1.MiniCluster) *bool {
	if w.ends == nil || cluster.Status.State != v1alpha1.MiniClusterStateRunning {
		return nil
	}
	return w.ends(cluster)
}

func succeed(*v1alpha1.MiniCluster) *bool { return new(true) }
