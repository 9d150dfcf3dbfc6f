package outcome

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// A pod that is deleted while it runs is lost at its deletion, not at the end of its init containers.
func TestLostAt(t *testing.T) {
	begin := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) metav1.Time { return metav1.NewTime(begin.Add(time.Duration(seconds) * time.Second)) }
	terminated := func(seconds int) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(seconds)}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(at(90)), DeletionGracePeriodSeconds: ptr.To[int64](30)}}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: terminated(1)}}
	assert.Equal(t, at(60), LostAt(pod), "no container has started")
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: terminated(50)}, {State: running}}
	assert.Equal(t, at(60), LostAt(pod), "one still runs")
	pod.Status.ContainerStatuses[1].State = terminated(55)
	assert.Equal(t, at(55), LostAt(pod), "the last one ended before the deletion")
	pod.Status.Phase, pod.Status.ContainerStatuses[1].State = corev1.PodFailed, running
	assert.Equal(t, at(60), LostAt(pod), "its node is gone, and nobody knows when its container ended")
	pod.Status.ContainerStatuses = nil
	assert.Equal(t, at(1), LostAt(pod), "an init container failed")
}
