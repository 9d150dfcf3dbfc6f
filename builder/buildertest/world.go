package buildertest

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CompleteJobs is a World in which every running Job succeeds.
func CompleteJobs(ctx context.Context, c client.Client) error {
	return finishJobs(ctx, c, func(*batchv1.Job) bool { return true })
}

// FinishJobs returns a World in which every running Job ends. It succeeds if the function succeeds returns true.
func FinishJobs(succeeds func(*batchv1.Job) bool) World {
	return func(ctx context.Context, c client.Client) error { return finishJobs(ctx, c, succeeds) }
}

func finishJobs(ctx context.Context, c client.Client, succeeds func(*batchv1.Job) bool) error {
	var jobs batchv1.JobList
	if err := c.List(ctx, &jobs); err != nil {
		return err
	}
	var errs []error
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if len(job.Status.Conditions) > 0 || ptr.Deref(job.Spec.Suspend, false) || job.DeletionTimestamp != nil {
			continue
		}
		now := metav1.Time{Time: nowOf(c)}
		job.Status.StartTime = &now
		if succeeds(job) {
			job.Status.CompletionTime = &now
			job.Status.Succeeded = ptr.Deref(job.Spec.Completions, 1)
			job.Status.Conditions = conditions(now, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
		} else {
			job.Status.Failed = 1
			job.Status.Conditions = conditions(now, batchv1.JobFailureTarget, batchv1.JobFailed)
		}
		errs = append(errs, c.Status().Update(ctx, job))
	}
	return errors.Join(errs...)
}

func conditions(now metav1.Time, types ...batchv1.JobConditionType) []batchv1.JobCondition {
	var all []batchv1.JobCondition
	for _, t := range types {
		all = append(all, batchv1.JobCondition{Type: t, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now})
	}
	return all
}

// RollOut is a World in which Deployments, StatefulSets and DaemonSets become ready, PodDisruptionBudgets are observed, and
// PersistentVolumeClaims are bound.
func RollOut(ctx context.Context, c client.Client) error {
	var deployments appsv1.DeploymentList
	var sets appsv1.StatefulSetList
	var daemons appsv1.DaemonSetList
	if err := errors.Join(c.List(ctx, &deployments), c.List(ctx, &sets), c.List(ctx, &daemons)); err != nil {
		return err
	}
	var errs []error
	for i := range deployments.Items {
		o := &deployments.Items[i]
		n := ptr.Deref(o.Spec.Replicas, 1)
		status := appsv1.DeploymentStatus{
			ObservedGeneration: o.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		errs = append(errs, writeStatus(ctx, c, o, &o.Status, status))
	}
	for i := range sets.Items {
		o := &sets.Items[i]
		n := ptr.Deref(o.Spec.Replicas, 1)
		errs = append(errs, writeStatus(ctx, c, o, &o.Status, appsv1.StatefulSetStatus{
			ObservedGeneration: o.Generation, Replicas: n, ReadyReplicas: n, CurrentReplicas: n, UpdatedReplicas: n, AvailableReplicas: n,
			CurrentRevision: o.Name, UpdateRevision: o.Name,
		}))
	}
	for i := range daemons.Items {
		o := &daemons.Items[i]
		errs = append(errs, writeStatus(ctx, c, o, &o.Status, appsv1.DaemonSetStatus{
			ObservedGeneration: o.Generation, DesiredNumberScheduled: 1, CurrentNumberScheduled: 1,
			UpdatedNumberScheduled: 1, NumberReady: 1, NumberAvailable: 1,
		}))
	}
	return errors.Join(append(errs, observeBudgets(ctx, c), bindClaims(ctx, c))...)
}

func observeBudgets(ctx context.Context, c client.Client) error {
	var budgets policyv1.PodDisruptionBudgetList
	errs := []error{c.List(ctx, &budgets)}
	for i := range budgets.Items {
		o := &budgets.Items[i]
		errs = append(errs, writeStatus(ctx, c, o, &o.Status, policyv1.PodDisruptionBudgetStatus{ObservedGeneration: o.Generation}))
	}
	return errors.Join(errs...)
}

func bindClaims(ctx context.Context, c client.Client) error {
	var claims corev1.PersistentVolumeClaimList
	errs := []error{c.List(ctx, &claims)}
	for i := range claims.Items {
		o := &claims.Items[i]
		errs = append(errs, writeStatus(ctx, c, o, &o.Status, corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}))
	}
	return errors.Join(errs...)
}

// writeStatus writes a status if it differs.
func writeStatus[S any](ctx context.Context, c client.Client, obj client.Object, at *S, status S) error {
	if obj.GetDeletionTimestamp() != nil || equality.Semantic.DeepEqual(*at, status) {
		return nil
	}
	*at = status
	return c.Status().Update(ctx, obj)
}
