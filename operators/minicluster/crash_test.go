package minicluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// crashes crashes the operator after each of its writes, with caches that lag by so many changes. The leader of each
// start ends with one of the exit codes; -1 stands for one that is deleted.
func crashes(t *testing.T, c *v1alpha1.MiniCluster, codes ...int32) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	c.UID = ""
	for _, lag := range []int{0, 1, 3} {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			buildertest.CrashEverywhere(t, buildertest.Scenario{
				Scheme:       scheme,
				Options:      []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.MiniCluster{})},
				Objects:      []client.Object{c.DeepCopy()},
				Requests:     []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(c)}},
				World:        jobController(codes),
				Lag:          lag,
				LagOwnWrites: lag > 1,
				Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
					return buildertest.NewReconciler(Operator(nil, planner), c, c.Now)
				},
			})
		})
	}
}

func TestCrashAfterEachWriteOfAClusterThatSucceeds(t *testing.T) {
	crashes(t, makeCluster(2, func(c *v1alpha1.MiniCluster) {
		c.Spec.Services = []v1alpha1.MiniClusterContainer{{Name: "db", Image: "db"}}
	}), 0)
}

func TestCrashAfterEachWriteOfAClusterThatRestarts(t *testing.T) {
	crashes(t, makeCluster(1, backoffLimit(1)), -1, 0)
}

func TestCrashAfterEachWriteOfAClusterThatFails(t *testing.T) {
	crashes(t, makeCluster(1, backoffLimit(1)), exitKilled, 4)
}

func TestCrashAfterEachWriteOfAClusterThatCleansUp(t *testing.T) {
	crashes(t, makeCluster(1, func(c *v1alpha1.MiniCluster) { c.Spec.Cleanup = true }), 0)
}

func TestCrashAfterEachWriteOfAClusterThatGoes(t *testing.T) {
	crashes(t, makeCluster(1, func(c *v1alpha1.MiniCluster) { c.Spec.TTLSecondsAfterFinished = ptr.To[int32](0) }), 0)
}

// jobController is a World that runs Jobs as Kubernetes does, a step a round: pods are made, become ready, the leader
// ends, the Job ends.
func jobController(codes []int32) buildertest.World {
	return func(ctx context.Context, c client.Client) error {
		var jobs batchv1.JobList
		if err := c.List(ctx, &jobs); err != nil {
			return err
		}
		var errs []error
		for i := range jobs.Items {
			job := &jobs.Items[i]
			if job.DeletionTimestamp == nil && len(job.Status.Conditions) == 0 && !isSuspended(job) {
				errs = append(errs, stepJob(ctx, c, job, codes[attempt(job)]))
			}
		}
		return errors.Join(errs...)
	}
}

func stepJob(ctx context.Context, c client.Client, job *batchv1.Job, code int32) error {
	pods := make([]*corev1.Pod, *job.Spec.Completions)
	for i := range pods {
		pods[i] = &corev1.Pod{}
		name := fmt.Sprintf("%s-%d-%d", job.Name, i, attempt(job))
		err := c.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: name}, pods[i])
		if apierrors.IsNotFound(err) && (i > 0 || job.Status.Failed == 0) {
			pods[i] = &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: job.Namespace, Name: name, Labels: map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(i)},
					OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
				},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "demo", Image: "demo"}}},
			}
			err = c.Create(ctx, pods[i])
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	for i, pod := range pods {
		if pod.Name != "" && pod.Status.Phase != corev1.PodRunning && !outcome.HasEnded(pod) {
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			if err := c.Status().Update(ctx, pod); err != nil {
				return err
			}
			if i == len(pods)-1 {
				return nil
			}
		}
	}
	leader := pods[0]
	switch {
	case leader.Name != "" && !outcome.HasEnded(leader):
		if code < 0 {
			job.Status.Failed = 1
			return errors.Join(c.Status().Update(ctx, job), c.Delete(ctx, leader))
		}
		leader.Status.Phase = corev1.PodFailed
		if code == 0 {
			leader.Status.Phase = corev1.PodSucceeded
		}
		leader.Status.Conditions = nil
		leader.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "demo", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
		}}
		return c.Status().Update(ctx, leader)
	case leader.Status.Phase == corev1.PodSucceeded:
		return finish(ctx, c, job, pods, batchv1.JobComplete)
	case code > 0 && code != exitKilled || *job.Spec.BackoffLimit == 0:
		return finish(ctx, c, job, pods, batchv1.JobFailed)
	}
	return nil
}

func finish(ctx context.Context, c client.Client, job *batchv1.Job, pods []*corev1.Pod, kind batchv1.JobConditionType) error {
	for _, pod := range pods {
		if pod.Name != "" && !outcome.HasEnded(pod) {
			if err := c.Delete(ctx, pod); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	now := metav1.NewTime(c.(*buildertest.Client).Now())
	job.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now}}
	return c.Status().Update(ctx, job)
}
