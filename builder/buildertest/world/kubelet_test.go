package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// The deadline counts from the kubelet's first status, also for a pod that never runs.
func TestAPodThatWaitsEndsAtItsDeadline(t *testing.T) {
	for name, change := range map[string]func(*corev1.PodSpec){
		"for a Secret": func(s *corev1.PodSpec) {
			source := corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}}
			s.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &source}}
		},
		"for its image": func(s *corev1.PodSpec) { s.Containers[0].Image = "large" },
	} {
		pod := &corev1.Pod{ObjectMeta: demo("demo"), Spec: templateOf("v1").Spec}
		pod.Spec.ActiveDeadlineSeconds = new(int64(5))
		change(&pod.Spec)
		w := newWorld(t, world.Options{Pods: func(p *corev1.Pod) world.Script {
			if p.Spec.Containers[0].Image == "large" {
				return world.Script{Start: time.Hour}
			}
			return world.Script{}
		}}, node("n1"), pod)
		require.NoError(t, w.Wait(t.Context(), 4*time.Second))
		assert.Equal(t, corev1.PodPending, got(t, w, pod, "demo").Status.Phase, name)
		require.NoError(t, w.Wait(t.Context(), 2*time.Second))
		status := got(t, w, pod, "demo").Status
		assert.Equal(t, corev1.PodFailed, status.Phase, name)
		assert.Equal(t, "DeadlineExceeded", status.Reason, name)
	}
}

// At its deadline a pod stops as at its deletion.
func TestAPodStopsAtItsDeadlineAsItsScriptSays(t *testing.T) {
	for _, tt := range []struct {
		stop, ends time.Duration
		exitCode   int32
	}{{10 * time.Second, 15 * time.Second, 143}, {time.Minute, 35 * time.Second, 137}} {
		pod := &corev1.Pod{ObjectMeta: demo("demo"), Spec: templateOf("v1").Spec}
		pod.Spec.ActiveDeadlineSeconds = new(int64(5))
		w := newWorld(t, world.Options{Pods: func(*corev1.Pod) world.Script { return world.Script{Stop: tt.stop} }}, node("n1"), pod)
		require.NoError(t, w.Wait(t.Context(), tt.ends-time.Second))
		assert.Equal(t, corev1.PodRunning, got(t, w, pod, "demo").Status.Phase)
		require.NoError(t, w.Wait(t.Context(), 2*time.Second))
		status := got(t, w, pod, "demo").Status
		assert.Equal(t, "DeadlineExceeded", status.Reason)
		assert.Equal(t, tt.exitCode, status.ContainerStatuses[0].State.Terminated.ExitCode)
	}
}

func TestACrashLoopingPodFailsAtItsDeadline(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: demo("demo"), Spec: templateOf("v1").Spec}
	pod.Spec.ActiveDeadlineSeconds = new(int64(25))
	w := newWorld(t, world.Options{Pods: func(*corev1.Pod) world.Script { return world.Script{Ends: true, ExitCode: 1} }}, node("n1"), pod)
	require.NoError(t, w.Wait(t.Context(), time.Hour))
	status := got(t, w, pod, "demo").Status
	require.Equal(t, corev1.PodFailed, status.Phase)
	require.NotNil(t, status.ContainerStatuses[0].State.Waiting)
	for _, c := range status.Conditions {
		if c.Type == corev1.PodReady {
			assert.Equal(t, "PodFailed", c.Reason)
		}
	}
}

// A sidecar runs beside the containers, also while they restart, and ends after them. A Job of it completes.
func TestASidecarEndsAfterTheContainers(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"}, Spec: batchv1.JobSpec{Template: templateOf("v1")}}
	pod := &job.Spec.Template.Spec
	pod.RestartPolicy = corev1.RestartPolicyOnFailure
	pod.InitContainers = []corev1.Container{
		{Name: "setup", Image: "v1"}, {Name: "proxy", Image: "v1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
	}
	w := newWorld(t, world.Options{}, node("n1"), job)
	require.NoError(t, w.Script("demo-*", world.Script{Ends: true, Run: time.Minute}))
	require.NoError(t, w.Script("demo-*", world.Script{Ends: true, Run: time.Minute, ExitCode: 1, Restarts: 1}))
	began := w.Now()
	require.NoError(t, w.Wait(t.Context(), 90*time.Second))
	status := got(t, w, &corev1.Pod{}, "demo-1").Status
	require.EqualValues(t, 1, status.ContainerStatuses[0].RestartCount)
	assert.NotNil(t, status.InitContainerStatuses[0].State.Terminated)
	proxy := status.InitContainerStatuses[1]
	require.NotNil(t, proxy.State.Running)
	assert.True(t, proxy.Ready)
	assert.Equal(t, began, proxy.State.Running.StartedAt.UTC())

	require.NoError(t, w.Wait(t.Context(), time.Hour))
	status = got(t, w, &corev1.Pod{}, "demo-1").Status
	assert.Equal(t, corev1.PodSucceeded, status.Phase)
	require.NotNil(t, status.InitContainerStatuses[1].State.Terminated)
	assert.EqualValues(t, 143, status.InitContainerStatuses[1].State.Terminated.ExitCode)
	assert.EqualValues(t, 1, got(t, w, job, "demo").Status.Succeeded)
	assert.NotNil(t, got(t, w, job, "demo").Status.CompletionTime)
}
