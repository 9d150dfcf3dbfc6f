package outcome

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFirstSucceeded(t *testing.T) {
	pod := func(name, index string, created int64, phase corev1.PodPhase) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(created, 0)}}
		p.Status.Phase = phase
		if index != "" {
			p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
		}
		return p
	}
	assert.Nil(t, FirstSucceeded(nil))
	assert.Nil(t, FirstSucceeded([]*corev1.Pod{pod("a", "", 1, corev1.PodFailed)}))
	assert.Equal(t, "c", FirstSucceeded([]*corev1.Pod{
		pod("a", "0", 1, corev1.PodFailed), pod("b", "10", 1, corev1.PodSucceeded), pod("c", "9", 2, corev1.PodSucceeded),
	}).Name, "the lowest index, as a number")
	assert.Equal(t, "b", FirstSucceeded([]*corev1.Pod{
		pod("a", "", 2, corev1.PodSucceeded), pod("c", "", 1, corev1.PodSucceeded), pod("b", "", 1, corev1.PodSucceeded),
	}).Name, "the oldest, and of those the first by name")
}

func TestTerminationMessage(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, {Name: "b"}, {Name: "c"}}}}
	assert.Empty(t, TerminationMessage(pod))
	for _, name := range []string{"c", "b", "a"} { // the statuses are in no particular order
		end := &corev1.ContainerStateTerminated{}
		if name != "a" {
			end.Message = "of " + name
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses,
			corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: end}})
	}
	assert.Equal(t, "of b", TerminationMessage(pod))
}
