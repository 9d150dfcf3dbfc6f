package daemonjob

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/wellknown"
)

// succeededPod is the pod of a Job, after it has succeeded.
func succeededPod(job *batchv1.Job) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name + "-x", Finalizers: []string{batchv1.JobTrackingFinalizer}, Labels: job.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		Status: corev1.PodStatus{Phase: corev1.PodSucceeded},
	}
}

// succeedPods lets the pods of nodes' Jobs succeed; the Jobs' conditions don't say so yet.
func (w *world) succeedPods(nodes ...string) {
	for _, n := range nodes {
		job := w.jobs["demo-"+n]
		job.UID = types.UID(n)
		w.pods = append(w.pods, succeededPod(job))
	}
}

func TestPodsTellTheEndBeforeTheConditionDoes(t *testing.T) {
	oneAtATime := func(s *v1alpha1.DaemonJobSpec) { s.Parallelism = new(intstr.FromInt32(1)) }
	w := worldOf(2, makeJob(oneAtATime))
	w.pass()
	assert.Equal(t, "n1", w.started())
	w.succeedPods("n1")
	w.pass()
	assert.Equal(t, "n2", w.started(), "the next one's turn")
	assert.Equal(t, "Running 1/2", w.counts())
	w.succeedPods("n2")
	w.pass()
	assert.Equal(t, "Succeed 2/2", w.counts())
	w.pods = nil // they are nobody's business any more
	w.pass()
	assert.Empty(t, w.deleted, "both are about to be complete")

	w = worldOf(2, makeJob(oneAtATime, func(s *v1alpha1.DaemonJobSpec) { s.EndOfJob = v1alpha1.EndOfJobCondition }))
	w.pass()
	w.succeedPods("n1")
	w.pass()
	assert.Equal(t, "n1", w.started(), "the condition is waited for")
	assert.Equal(t, "Running 0/2 active=1", w.counts())
}

func TestPodsCanBeFoundByTheManager(t *testing.T) {
	assert.Equal(t, wellknown.ManagedBy, render(makeJob()).Spec.Template.Labels[wellknown.LabelManagedBy])
}

// First the pods succeed, a round later the Jobs say so.
func TestCrashAfterEachWriteAsPodsSucceed(t *testing.T) {
	job := makeJob(func(s *spec) { s.Parallelism = new(intstr.FromInt32(2)) })
	finish := buildertest.FinishJobs(func(*batchv1.Job) bool { return true })
	crashes(t, buildertest.InOrder(func(ctx context.Context, c client.Client) error {
		var pods corev1.PodList
		if err := c.List(ctx, &pods); err != nil || len(pods.Items) == 0 {
			return err
		}
		return finish(ctx, c)
	}, givePods), job, makeNode("n1"), makeNode("n2"), makeNode("n3"))
}

// givePods gives each Job a pod that has succeeded.
func givePods(ctx context.Context, c client.Client) error {
	var jobs batchv1.JobList
	if err := c.List(ctx, &jobs); err != nil {
		return err
	}
	for i := range jobs.Items {
		pod := succeededPod(&jobs.Items[i])
		status := pod.Status
		if err := c.Create(ctx, pod); apierrors.IsAlreadyExists(err) {
			continue
		} else if err != nil {
			return err
		}
		pod.Status = status
		if err := c.Status().Update(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}
