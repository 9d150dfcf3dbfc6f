package world_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

func rollOut(t *testing.T, w *world.World, d *appsv1.Deployment, image string) {
	t.Helper()
	edit(t, w, d, func(o *appsv1.Deployment) { o.Spec.Template.Spec.Containers[0].Image = image })
	require.NoError(t, w.Settle(t.Context()))
}

func TestACompleteDeploymentDoesNotTimeOut(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), deployment(1, nil))
	require.NoError(t, w.Settle(t.Context()))
	assertProgress(t, w, corev1.ConditionTrue, "NewReplicaSetAvailable")
	require.NoError(t, w.Script("*", world.Script{Unready: true}))
	require.NoError(t, w.Wait(t.Context(), time.Hour))
	assert.Zero(t, got(t, w, &appsv1.Deployment{}, "demo").Status.AvailableReplicas)
	assertProgress(t, w, corev1.ConditionTrue, "NewReplicaSetAvailable")
}

func TestAFixDoesNotInheritTheTimeout(t *testing.T) {
	d := deployment(1, nil)
	w := newWorld(t, world.Options{Pods: byImage}, node("n1"), d)
	require.NoError(t, w.Settle(t.Context()))
	rollOut(t, w, d, brokenImage)
	assertProgress(t, w, corev1.ConditionTrue, "ReplicaSetUpdated")
	require.NoError(t, w.Wait(t.Context(), time.Hour))
	assertProgress(t, w, corev1.ConditionFalse, "ProgressDeadlineExceeded")

	require.NoError(t, w.Script("*", world.Script{Start: time.Minute}))
	rollOut(t, w, d, "v2")
	assertProgress(t, w, corev1.ConditionTrue, "ReplicaSetUpdated")
	require.NoError(t, w.Wait(t.Context(), time.Minute))
	assertProgress(t, w, corev1.ConditionTrue, "NewReplicaSetAvailable")
}

// A fix whose pods can't be created yet has its own time for progress.
func TestAFixWithoutPodsDoesNotInheritTheTimeout(t *testing.T) {
	d := deployment(1, nil)
	w := newWorld(t, world.Options{Pods: byImage}, node("n1"), d)
	require.NoError(t, w.Settle(t.Context()))
	rollOut(t, w, d, brokenImage)
	require.NoError(t, w.Wait(t.Context(), time.Hour))
	edit(t, w, d, func(o *appsv1.Deployment) { o.Spec.Template.Spec.Containers[0].Image = "v2" })
	isDeployment := func(s world.Step) bool { return s.Actor == "deployment-controller" }
	require.NoError(t, w.SettleOnly(t.Context(), isDeployment))
	assertProgress(t, w, corev1.ConditionTrue, "NewReplicaSetCreated")
	w.Server().Clock().Step(5 * time.Minute)
	require.NoError(t, w.SettleOnly(t.Context(), isDeployment))
	assertProgress(t, w, corev1.ConditionTrue, "NewReplicaSetCreated")
	w.Server().Clock().Step(6 * time.Minute)
	require.NoError(t, w.SettleOnly(t.Context(), isDeployment))
	assertProgress(t, w, corev1.ConditionFalse, "ProgressDeadlineExceeded")
}

func TestADeploymentWithoutADeadlineHasNoProgress(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), deployment(1, func(s *appsv1.DeploymentSpec) {
		s.ProgressDeadlineSeconds = new(int32(1<<31 - 1))
	}))
	require.NoError(t, w.Settle(t.Context()))
	for _, c := range got(t, w, &appsv1.Deployment{}, "demo").Status.Conditions {
		assert.NotEqual(t, appsv1.DeploymentProgressing, c.Type)
	}
}

// The fix of a broken roll-out removes the broken pods first, whatever the names of the ReplicaSets.
func TestARollOverRemovesBrokenPodsFirst(t *testing.T) {
	for i := range 6 { // the names of ReplicaSets are hashes, in some order
		broken := fmt.Sprint(brokenImage, i)
		d := deployment(4, nil)
		w := newWorld(t, world.Options{Pods: byImage}, node("n1"), d)
		require.NoError(t, w.Wait(t.Context(), time.Minute))
		rollOut(t, w, d, broken)
		assert.Equal(t, map[string]int32{"v1": 3, broken: 2}, sizesByImage(t, w))

		require.NoError(t, w.Wait(t.Context(), time.Minute))
		rollOut(t, w, d, brokenImage)
		assert.Equal(t, map[string]int32{"v1": 3, broken: 0, brokenImage: 2}, sizesByImage(t, w))
	}
}

// Of old ReplicaSets with ready pods, the oldest shrinks first.
func TestARollOverRemovesTheOldestPodsFirst(t *testing.T) {
	for _, second := range []string{"v2", "v3", "v4", "v5", "v6", "v7"} {
		limits := appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(0)), MaxUnavailable: new(intstr.FromInt32(1))}
		d := deployment(4, func(s *appsv1.DeploymentSpec) { s.Strategy.RollingUpdate = &limits })
		w := newWorld(t, world.Options{Pods: byImage}, node("n1"), d)
		require.NoError(t, w.Wait(t.Context(), time.Minute))
		require.NoError(t, w.Script("*-3", world.Script{Unready: true, Labels: map[string]string{"version": "second"}}))
		edit(t, w, d, func(o *appsv1.Deployment) {
			o.Spec.Template.Spec.Containers[0].Image, o.Spec.Template.Labels["version"] = second, "second"
		})
		require.NoError(t, w.Wait(t.Context(), time.Minute))
		require.Equal(t, map[string]int32{"v1": 1, second: 3}, sizesByImage(t, w), "the third pod isn't ready")

		edit(t, w, d, func(o *appsv1.Deployment) {
			o.Spec.Template.Spec.Containers[0].Image = brokenImage
			o.Spec.Template.Labels["version"] = "third"
			o.Spec.Strategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(2))
		})
		require.NoError(t, w.Settle(t.Context()))
		assert.Equal(t, map[string]int32{"v1": 0, second: 2, brokenImage: 2}, sizesByImage(t, w))
	}
}

func TestAllPodsOfARecreatedDeploymentMustBeAvailable(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), deployment(4, func(s *appsv1.DeploymentSpec) {
		s.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}))
	require.NoError(t, w.Script("*-1", world.Script{Unready: true}))
	require.NoError(t, w.Settle(t.Context()))
	d := got(t, w, &appsv1.Deployment{}, "demo")
	assert.EqualValues(t, 3, d.Status.AvailableReplicas)
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentAvailable {
			assert.Equal(t, corev1.ConditionFalse, c.Status)
		}
	}
}
