package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

// A pod's own deadline ends it, whatever its restartPolicy.
func TestAPodEndsAtItsDeadline(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: demo("demo"), Spec: templateOf("v1").Spec}
	pod.Spec.ActiveDeadlineSeconds = new(int64(5))
	w := newWorld(t, world.Options{}, node("n1"), pod)
	require.NoError(t, w.Wait(t.Context(), 4*time.Second))
	assert.Equal(t, corev1.PodRunning, got(t, w, pod, "demo").Status.Phase)
	require.NoError(t, w.Wait(t.Context(), time.Minute))
	status := got(t, w, pod, "demo").Status
	require.Equal(t, corev1.PodFailed, status.Phase)
	assert.Equal(t, "DeadlineExceeded", status.Reason)
	assert.EqualValues(t, 143, status.ContainerStatuses[0].State.Terminated.ExitCode)
}
