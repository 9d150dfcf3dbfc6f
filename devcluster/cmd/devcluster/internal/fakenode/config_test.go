package fakenode

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

// podStages loads the configuration as kwok does.
func podStages(t *testing.T) lifecycle.Lifecycle {
	t.Helper()
	file := filepath.Join(t.TempDir(), ConfigFile)
	require.NoError(t, os.WriteFile(file, []byte(Config()), 0o600))
	objects, err := config.Load(t.Context(), file)
	require.NoError(t, err)
	var stages []*internalversion.Stage
	for _, object := range objects {
		if stage, ok := object.(*internalversion.Stage); ok && stage.Spec.ResourceRef.Kind == "Pod" {
			stages = append(stages, stage)
		}
	}
	require.NotEmpty(t, stages)
	l, err := lifecycle.NewLifecycle(stages)
	require.NoError(t, err)
	return l
}

func TestNextStageOfAPod(t *testing.T) {
	stages := podStages(t)
	now := time.Now().Truncate(time.Second)
	for name, tc := range map[string]struct {
		pod      func(*corev1.Pod)
		stage    string
		min, max time.Duration
	}{
		"scheduled":          {func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodPending} }, "pod-ready", 0, 0},
		"no annotation":      {func(*corev1.Pod) {}, "pod-finish", 0, time.Second},
		"run time":           {runTime("3s"), "pod-finish", 3 * time.Second, 3 * time.Second},
		"short run time":     {runTime("30ms"), "pod-finish", 30 * time.Millisecond, 30 * time.Millisecond},
		"run time, changed":  {both(runTime("1m30s"), ran(now, 40*time.Second)), "pod-finish", 48 * time.Second, 50 * time.Second},
		"run time is over":   {both(runTime("3s"), ran(now, 40*time.Second)), "pod-finish", 0, time.Millisecond},
		"nonsense":           {runTime("soon"), "pod-finish", 0, time.Second},
		"forever":            {runTime("forever"), "", 0, 0},
		"restarts always":    {policy(corev1.RestartPolicyAlways), "", 0, 0},
		"fails":              {exitCode("1"), "pod-finish", 0, time.Second},
		"succeeds":           {both(exitCode("0"), policy(corev1.RestartPolicyOnFailure)), "pod-finish", 0, time.Second},
		"fails and restarts": {both(exitCode("1"), policy(corev1.RestartPolicyOnFailure)), "pod-restart", time.Second, time.Second},
		"deleted":            {deleted(now, 30), "pod-kill", 0, 0},
		"deleted, finished":  {both(deleted(now, 30), phase(corev1.PodSucceeded)), "pod-delete", 0, 0},
		"deleted before":     {both(deleted(now, 0), phase(corev1.PodSucceeded)), "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pod := runningPod(now)
			tc.pod(pod)
			event := &lifecycle.Event{Labels: pod.Labels, Annotations: pod.Annotations, Data: pod}
			stage, err := stages.Match(t.Context(), event)
			require.NoError(t, err)
			if tc.stage == "" {
				require.Nil(t, stage)
				return
			}
			require.NotNil(t, stage)
			require.Equal(t, tc.stage, stage.Name())
			delay, _, err := stage.Delay(t.Context(), event, time.Now())
			require.NoError(t, err)
			if took := time.Since(now); took >= 1500*time.Millisecond { // on a slow machine; the pod has run for as long
				tc.min -= took
			}
			assert.GreaterOrEqual(t, delay, tc.min)
			assert.LessOrEqual(t, delay, tc.max)
		})
	}
}

func runningPod(now time.Time) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
				Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)},
			}}},
		},
	}
}

func both(a, b func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) { a(p); b(p) }
}

func runTime(s string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations["devcluster.armature.dev/run-time"] = s }
}

func exitCode(s string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations["devcluster.armature.dev/exit-code"] = s }
}

func policy(policy corev1.RestartPolicy) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.RestartPolicy = policy }
}

func phase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func ran(now time.Time, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(now.Add(-d))
	}
}

func deleted(now time.Time, grace int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		t := metav1.NewTime(now)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &t, &grace
	}
}
