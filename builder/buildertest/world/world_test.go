package world_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

// run returns the calls of a world in which four pods of a Job fail once, then succeed.
func run(t *testing.T, seed uint64) string {
	t.Helper()
	w := newWorld(t, world.Options{Seed: seed}, node("n1"), node("n2"),
		job(func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = new(int32(4)), new(int32(2)) }))
	require.NoError(t, w.Script("*", world.Script{Ends: true, Run: time.Minute}))
	require.NoError(t, w.Script("demo-[12]", world.Script{Ends: true, ExitCode: 1}))
	require.NoError(t, w.Idle(t.Context(), time.Hour))
	return w.Server().Ledger().String()
}

func TestARunDependsOnItsSeedOnly(t *testing.T) {
	assert.Equal(t, run(t, 0), run(t, 0))
	assert.Equal(t, run(t, 7), run(t, 7))
	assert.NotEqual(t, run(t, 7), run(t, 8))
	assert.Len(t, strings.Split(run(t, 7), "\n"), len(strings.Split(run(t, 8), "\n")))
}

func TestStepsAreSingleWrites(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), job(func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = new(int32(2)), new(int32(2)) }))
	steps, err := w.Steps()
	require.NoError(t, err)
	require.Len(t, steps, 2)
	assert.Equal(t, "job-controller: create Pod default/demo-1", steps[0].String())
	assert.Equal(t, "job-controller: create Pod default/demo-2", steps[1].String())
	require.NoError(t, steps[1].Run(t.Context()))
	require.NoError(t, steps[1].Run(t.Context()), "an obsolete step does nothing")
	again, err := w.Steps()
	require.NoError(t, err)
	assert.Len(t, again, 2)
	assert.Equal(t, "scheduler: bind Pod default/demo-2", again[0].String())
	assert.Equal(t, "job-controller: create Pod default/demo-3", again[1].String())
}

func TestSettleOnlyRunsTheSelectedSteps(t *testing.T) {
	other := job(nil)
	other.Name = "other"
	w := newWorld(t, world.Options{Pods: world.JobsSucceed}, node("n1"), job(nil), other)
	require.NoError(t, w.SettleOnly(t.Context(), func(s world.Step) bool { return strings.HasPrefix(s.Name, "demo") }))
	steps, err := w.Steps()
	require.NoError(t, err)
	require.Len(t, steps, 1)
	assert.Equal(t, "job-controller: create Pod default/other-1", steps[0].String())
}

func TestWhatCanNotBeSimulatedIsAnError(t *testing.T) {
	w := newWorld(t, world.Options{}, &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"},
		Spec: appsv1.DaemonSetSpec{UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
			RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("some"))},
		}},
	})
	_, err := w.Steps()
	require.ErrorContains(t, err, "DaemonSet default/demo: spec.updateStrategy.rollingUpdate.maxUnavailable: ")
	require.Error(t, w.Settle(t.Context()))
	require.Error(t, w.Wait(t.Context(), -time.Second))
	require.Error(t, w.Script("[", world.Script{}))
}

// The objects of a State are the server's own.
func TestControllersChangeNoObject(t *testing.T) {
	labels := map[string]string{"app": "demo"}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: "busybox"}},
	}}
	meta := metav1.ObjectMeta{Namespace: "default", Name: "demo"}
	indexed := func(s *batchv1.JobSpec) {
		s.CompletionMode, s.Completions = new(batchv1.IndexedCompletion), new(int32(2))
	}
	w := newWorld(t, world.Options{}, node("n1"), job(indexed),
		&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}},
		&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template}},
		&appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}})
	require.NoError(t, w.Script("demo-0-*", world.Script{Ends: true}))
	ran := 0
	for {
		before := w.Server().Objects()
		steps, err := w.Steps()
		require.NoError(t, err)
		require.Equal(t, before, w.Server().Stored())
		if len(steps) == 0 {
			break
		}
		require.NoError(t, steps[0].Run(t.Context()))
		ran++
	}
	assert.Greater(t, ran, 20)
}
