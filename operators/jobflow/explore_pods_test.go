package jobflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/operators/internal/refusal"
)

const runs = "example.com/runs" // a finalizer that keeps a pod until it has stopped

// runPods is a World in which each Job has a pod, which succeeds, and whose deletion takes a while.
func runPods(ctx context.Context, c client.Client) error {
	var jobs batchv1.JobList
	var pods corev1.PodList
	if err := errors.Join(c.List(ctx, &jobs), c.List(ctx, &pods)); err != nil {
		return err
	}
	var errs []error
	for i := range pods.Items {
		switch pod := &pods.Items[i]; {
		case pod.DeletionTimestamp != nil:
			pod.Finalizers = nil
			errs = append(errs, c.Update(ctx, pod))
		case pod.Status.Phase == corev1.PodPending:
			pod.Status.Phase = corev1.PodRunning
			errs = append(errs, c.Status().Update(ctx, pod))
		case pod.Status.Phase == corev1.PodRunning:
			pod.Status.Phase = corev1.PodSucceeded
			errs = append(errs, c.Status().Update(ctx, pod))
		}
	}
	for i := range jobs.Items {
		job := &jobs.Items[i]
		at := slices.IndexFunc(pods.Items, func(p corev1.Pod) bool { return metav1.IsControlledBy(&p, job) })
		if at < 0 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: job.Namespace, Name: job.Name + "-" + string(job.UID)[24:], Labels: job.Spec.Template.Labels, Finalizers: []string{runs},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
			}, Spec: job.Spec.Template.Spec}
			errs = append(errs, c.Create(ctx, pod))
			continue
		}
		if pods.Items[at].Status.Phase == corev1.PodSucceeded && job.Status.Succeeded == 0 {
			job.Status.Succeeded = 1
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
			errs = append(errs, c.Status().Update(ctx, job))
		}
	}
	return errors.Join(errs...)
}

// oneByOne is the invariant that no two pods of a node run at the same time.
func oneByOne(ctx context.Context, c client.Reader) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods); err != nil {
		return err
	}
	running := map[string]string{}
	for _, pod := range pods.Items {
		if pod.Status.Phase != corev1.PodRunning {
			continue
		}
		node := pod.Labels[LabelFlow]
		if other := running[node]; other != "" {
			return fmt.Errorf("pods %s and %s of node %s run at the same time", other, pod.Name, node)
		}
		running[node] = pod.Name
	}
	return nil
}

// deletedJob is a flow of which a user deletes the first Job at any time.
func deletedJob(t *testing.T) buildertest.Scenario {
	s := explored(t, runPods, makeFlow(node("a")))
	s.Invariants = []buildertest.Invariant{oneByOne}
	s.Then = []buildertest.World{func(ctx context.Context, c client.Client) error {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo-a"}}
		return client.IgnoreNotFound(c.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}}
	s.Normalize = func(obj *unstructured.Unstructured) bool { // how often it ran depends on when the Job was deleted
		state, _, _ := unstructured.NestedString(obj.Object, "status", "state")
		obj.Object["status"] = map[string]any{"state": state}
		return obj.GetKind() == "JobFlow"
	}
	return s
}

// A Job that someone deletes is created again only when its pod has ended.
func TestExploreADeletedJob(t *testing.T) {
	report := buildertest.Explore(t, deletedJob(t), buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), Edits: 1})
	assert.True(t, report.Exhausted)
}

// The operator of before didn't look at the pods of deleted Jobs. This is how Explore finds that.
func TestExploreFindsAJobThatIsCreatedBesideItsOldPod(t *testing.T) {
	s := deletedJob(t)
	s.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
		former := builder.NewOperator[*v1alpha1.JobFlow](nil, Name).
			Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{})).
			Watches(&corev1.Pod{}, builder.Referencing(func(*corev1.Pod) []string { return nil })).
			Watches(&v1alpha1.JobTemplate{}, builder.ReferencedBy(TemplateNames)).
			External(refusal.Sense[*v1alpha1.JobFlow](nil)).
			Plan(Plan)
		return buildertest.NewReconciler(former, c, c.Now)
	}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{Edits: 1})
	var found *buildertest.Counterexample
	require.ErrorAs(t, err, &found)
	assert.ErrorContains(t, found.Err, "of node a run at the same time")
	t.Log(found)
}
