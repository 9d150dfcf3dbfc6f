package watchcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// The kubelet stops a sidecar once the other containers have ended: its exit code says nothing.
func TestFailedContainerIsNoStoppedSidecar(t *testing.T) {
	ended := func(name string, code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
	}
	pod := &corev1.Pod{
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
			Containers:     []corev1.Container{{Name: "first"}, {Name: "main"}},
		},
		Status: corev1.PodStatus{
			Phase:                 corev1.PodFailed,
			InitContainerStatuses: []corev1.ContainerStatus{ended("proxy", 143)},
			ContainerStatuses:     []corev1.ContainerStatus{ended("first", 0), ended("main", 1)},
		},
	}
	assert.Equal(t, "main", failedContainer(pod))

	pod.Status.ContainerStatuses = nil // evicted
	pod.Status.InitContainerStatuses = nil
	assert.Equal(t, "first", failedContainer(pod))
}
