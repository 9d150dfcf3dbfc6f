package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

func withImage(image string) func(*appsv1.StatefulSet) {
	return func(o *appsv1.StatefulSet) { o.Spec.Template.Spec.Containers[0].Image = image }
}

func imageOf(t *testing.T, w *world.World, pod string) string {
	t.Helper()
	return got(t, w, &corev1.Pod{}, pod).Spec.Containers[0].Image
}

// A broken pod stops a StatefulSet with OrderedReady, also after the template is repaired. Someone has to delete the pod:
// https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback
func TestABrokenPodStopsAnOrderedStatefulSetUntilItIsDeleted(t *testing.T) {
	set := statefulSet(2, nil)
	w := newWorld(t, world.Options{Pods: byImage}, node("n1"), set)
	require.NoError(t, w.Settle(t.Context()))
	edit(t, w, set, withImage(brokenImage))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, brokenImage, imageOf(t, w, "demo-1"))
	assert.Equal(t, "v1", imageOf(t, w, "demo-0"))

	edit(t, w, set, withImage("v1"))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, brokenImage, imageOf(t, w, "demo-1"), "the controller waits for the broken pod")
	assert.EqualValues(t, 3, got(t, w, set, "demo").Status.ObservedGeneration, "the status is of the repaired template")

	require.NoError(t, w.Server().Client("user").Delete(t.Context(), got(t, w, &corev1.Pod{}, "demo-1")))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, "v1", imageOf(t, w, "demo-1"))
	set = got(t, w, set, "demo")
	assert.EqualValues(t, 2, set.Status.AvailableReplicas)
	assert.Equal(t, set.Status.UpdateRevision, set.Status.CurrentRevision)
}

// With Parallel, the controller replaces unavailable pods of a former revision.
func TestAParallelStatefulSetReplacesBrokenPods(t *testing.T) {
	set := statefulSet(2, func(s *appsv1.StatefulSetSpec) { s.PodManagementPolicy = appsv1.ParallelPodManagement })
	w := newWorld(t, world.Options{Pods: byImage}, node("n1"), set)
	require.NoError(t, w.Settle(t.Context()))
	edit(t, w, set, withImage(brokenImage))
	require.NoError(t, w.Settle(t.Context()))
	edit(t, w, set, withImage("v1"))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, "v1", imageOf(t, w, "demo-1"))
	assert.EqualValues(t, 2, got(t, w, set, "demo").Status.AvailableReplicas)
}

// A broken pod stops the reduction of an ordered StatefulSet too, unless it is itself one too many.
func TestABrokenPodStopsTheReductionOfAnOrderedStatefulSet(t *testing.T) {
	set := statefulSet(3, nil)
	w := newWorld(t, world.Options{Pods: byImage}, node("n1"), set)
	require.NoError(t, w.Settle(t.Context()))
	require.NoError(t, w.Script("demo-1", world.Script{Unready: true}))
	require.NoError(t, w.Settle(t.Context()))
	edit(t, w, set, func(o *appsv1.StatefulSet) { o.Spec.Replicas = new(int32(2)) })
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-0", "demo-1", "demo-2"}, podNames(t, w, set))

	edit(t, w, set, func(o *appsv1.StatefulSet) { o.Spec.Replicas = new(int32(1)) })
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-0"}, podNames(t, w, set))
}

// An update keeps the pods below the partition.
func TestAPartitionKeepsLowPods(t *testing.T) {
	set := statefulSet(3, func(s *appsv1.StatefulSetSpec) {
		s.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5}
		s.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(1))}
	})
	w := newWorld(t, world.Options{}, node("n1"), set)
	require.NoError(t, w.Settle(t.Context()))
	edit(t, w, set, withImage("v2"))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"v1", "v2", "v2"}, []string{imageOf(t, w, "demo-5"), imageOf(t, w, "demo-6"), imageOf(t, w, "demo-7")})
	require.NoError(t, w.Server().Client("user").Delete(t.Context(), got(t, w, &corev1.Pod{}, "demo-5")))
	require.ErrorContains(t, w.Settle(t.Context()), "StatefulSet default/demo: pod demo-5 is missing, is below "+
		"spec.updateStrategy.rollingUpdate.partition 1, and needs the template of revision demo-")
}

// A pod counts as ready and available until its containers stop, but not as current or updated once it terminates.
func TestATerminatingPodOfAStatefulSetCountsWhileItIsReady(t *testing.T) {
	set := statefulSet(2, nil)
	w := newWorld(t, world.Options{Pods: func(*corev1.Pod) world.Script { return world.Script{Stop: 20 * time.Second} }}, node("n1"), set)
	require.NoError(t, w.Settle(t.Context()))
	require.NoError(t, w.Server().Client("user").Delete(t.Context(), got(t, w, &corev1.Pod{}, "demo-1")))
	require.NoError(t, w.Settle(t.Context()))
	status := got(t, w, set, "demo").Status
	assert.Equal(t, []int32{2, 2, 2, 1, 1}, []int32{
		status.Replicas, status.ReadyReplicas, status.AvailableReplicas, status.CurrentReplicas, status.UpdatedReplicas,
	})
	require.NoError(t, w.Wait(t.Context(), 30*time.Second))
	assert.EqualValues(t, 2, got(t, w, set, "demo").Status.UpdatedReplicas)
}

// A pending pod gets the claim back that someone deletes.
func TestAStatefulSetCreatesTheMissingClaimOfAPendingPod(t *testing.T) {
	data := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}
	w := newWorld(t, world.Options{}, statefulSet(1, func(s *appsv1.StatefulSetSpec) {
		s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{data}
	}))
	require.NoError(t, w.Settle(t.Context()))
	claim := got(t, w, &corev1.PersistentVolumeClaim{}, "data-demo-0")
	require.NoError(t, w.Server().Client("user").Delete(t.Context(), claim))
	require.NoError(t, w.Settle(t.Context()))
	assert.NotEqual(t, claim.UID, got(t, w, &corev1.PersistentVolumeClaim{}, "data-demo-0").UID)
}

// The labels of the selector come to those of the claim's template.
func TestTheClaimsOfAStatefulSetHaveTheLabelsOfTheirTemplate(t *testing.T) {
	data := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"backup": "daily", "app": "x"}}}
	w := newWorld(t, world.Options{}, statefulSet(1, func(s *appsv1.StatefulSetSpec) {
		s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{data}
	}))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, map[string]string{"backup": "daily", "app": "demo"}, got(t, w, &corev1.PersistentVolumeClaim{}, "data-demo-0").Labels)
}

// The controller creates no pod whose claim terminates, and then a new claim.
func TestAPodOfAStatefulSetWaitsForATerminatingClaim(t *testing.T) {
	for _, policy := range []appsv1.PodManagementPolicyType{appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement} {
		old := &corev1.PersistentVolumeClaim{ObjectMeta: demo("data-demo-0")}
		old.Finalizers = []string{"example.com/backup"}
		set := statefulSet(2, func(s *appsv1.StatefulSetSpec) {
			s.PodManagementPolicy = policy
			s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		})
		w := newWorld(t, world.Options{}, node("n1"), set, old)
		require.NoError(t, w.Server().Client("user").Delete(t.Context(), old.DeepCopy()))
		require.NoError(t, w.Settle(t.Context()))
		assert.Empty(t, podNames(t, w, got(t, w, set, "demo")), policy)
		edit(t, w, old, func(o *corev1.PersistentVolumeClaim) { o.Finalizers = nil })
		require.NoError(t, w.Settle(t.Context()))
		assert.Equal(t, []string{"demo-0", "demo-1"}, podNames(t, w, got(t, w, set, "demo")), policy)
	}
}
