package daemonjob

import (
	"testing"

	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
