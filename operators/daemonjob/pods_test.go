package daemonjob

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
