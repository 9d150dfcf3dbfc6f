package world_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

// recreate deletes an object without its dependents and creates it again.
func recreate[T client.Object](t *testing.T, w *world.World, obj, again T) T {
	t.Helper()
	c := w.Server().Client("user")
	require.NoError(t, c.Delete(t.Context(), obj, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	require.NoError(t, w.Settle(t.Context()))
	require.NoError(t, c.Create(t.Context(), again))
	return again
}

func TestAStatefulSetAdoptsThePodsOfItsFormerSelf(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), statefulSet(2, nil))
	require.NoError(t, w.Settle(t.Context()))
	before := got(t, w, &corev1.Pod{}, "demo-0").UID
	again := recreate(t, w, got(t, w, &appsv1.StatefulSet{}, "demo"), statefulSet(2, nil))
	assert.Equal(t, []string{"demo-0", "demo-1"}, podNames(t, w, nil))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-0", "demo-1"}, podNames(t, w, again))
	assert.Equal(t, before, got(t, w, &corev1.Pod{}, "demo-0").UID)
	assert.EqualValues(t, 2, got(t, w, &appsv1.StatefulSet{}, "demo").Status.AvailableReplicas)
}

func TestADeploymentAdoptsTheReplicaSetsOfItsFormerSelf(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), deployment(2, nil))
	require.NoError(t, w.Settle(t.Context()))
	again := recreate(t, w, got(t, w, &appsv1.Deployment{}, "demo"), deployment(2, nil))
	require.NoError(t, w.Settle(t.Context()))
	sets := &appsv1.ReplicaSetList{}
	require.NoError(t, w.Server().Client().List(t.Context(), sets))
	require.Len(t, sets.Items, 1)
	assert.True(t, metav1.IsControlledBy(&sets.Items[0], again))
	assert.EqualValues(t, 2, got(t, w, &appsv1.Deployment{}, "demo").Status.AvailableReplicas)
}

func TestAReplicaSetAdoptsMatchingPods(t *testing.T) {
	set := &appsv1.ReplicaSet{ObjectMeta: demo("demo"), Spec: appsv1.ReplicaSetSpec{
		Replicas: new(int32(2)), Selector: selectDemo(), Template: templateOf("v1"),
	}}
	orphan := &corev1.Pod{ObjectMeta: demo("orphan"), Spec: templateOf("v1").Spec}
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"}, Spec: templateOf("v1").Spec}
	w := newWorld(t, world.Options{}, node("n1"), set, orphan, other)
	require.NoError(t, w.Settle(t.Context()))
	set = got(t, w, set, "demo")
	assert.Equal(t, []string{"demo-1", "orphan"}, podNames(t, w, set))
	assert.Equal(t, []string{"other"}, podNames(t, w, nil))

	pod := got(t, w, &corev1.Pod{}, "orphan")
	edit(t, w, pod, func(p *corev1.Pod) { p.Labels = nil })
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-1", "demo-2"}, podNames(t, w, set), "the ReplicaSet releases a pod that it no longer selects")
	assert.Equal(t, []string{"orphan", "other"}, podNames(t, w, nil))
}

func TestADaemonSetAdoptsThePodsOfItsFormerSelf(t *testing.T) {
	set := func() *appsv1.DaemonSet {
		return &appsv1.DaemonSet{ObjectMeta: demo("demo"), Spec: appsv1.DaemonSetSpec{Selector: selectDemo(), Template: templateOf("v1")}}
	}
	w := newWorld(t, world.Options{}, node("n1"), node("n2"), set())
	require.NoError(t, w.Settle(t.Context()))
	again := recreate(t, w, got(t, w, &appsv1.DaemonSet{}, "demo"), set())
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-1", "demo-2"}, podNames(t, w, again))
}

// A DaemonSet keeps the oldest of several adopted pods of a node.
func TestADaemonSetHasOnePodOnANode(t *testing.T) {
	set := &appsv1.DaemonSet{ObjectMeta: demo("demo"), Spec: appsv1.DaemonSetSpec{Selector: selectDemo(), Template: templateOf("v1")}}
	w := newWorld(t, world.Options{}, node("n1"), set)
	require.NoError(t, w.Settle(t.Context()))
	require.NoError(t, w.Wait(t.Context(), time.Minute))
	extra := &corev1.Pod{ObjectMeta: demo("extra"), Spec: templateOf("v1").Spec}
	extra.Spec.NodeName = "n1"
	require.NoError(t, w.Server().Client("user").Create(t.Context(), extra))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-1"}, podNames(t, w, got(t, w, set, "demo")))
	assert.Empty(t, podNames(t, w, nil))
}

// An adopted pod without a node and without the affinity to one isn't the pod of any node yet. The DaemonSet keeps it until the scheduler
// has bound it, and then deletes it where an older pod runs.
func TestADaemonSetWaitsForTheNodeOfAnAdoptedPod(t *testing.T) {
	set := &appsv1.DaemonSet{ObjectMeta: demo("demo"), Spec: appsv1.DaemonSetSpec{Selector: selectDemo(), Template: templateOf("v1")}}
	w := newWorld(t, world.Options{}, node("n1"), set)
	require.NoError(t, w.Settle(t.Context()))
	require.NoError(t, w.Wait(t.Context(), time.Minute))
	extra := &corev1.Pod{ObjectMeta: demo("extra"), Spec: templateOf("v1").Spec}
	extra.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	require.NoError(t, w.Server().Client("user").Create(t.Context(), extra))
	require.NoError(t, w.Settle(t.Context()))
	set = got(t, w, set, "demo")
	assert.Equal(t, []string{"demo-1", "extra"}, podNames(t, w, set))
	assert.Nil(t, got(t, w, extra, "extra").DeletionTimestamp)
	assert.EqualValues(t, 1, set.Status.CurrentNumberScheduled)
	assert.Zero(t, set.Status.NumberMisscheduled)

	edit(t, w, extra, func(p *corev1.Pod) { p.Spec.SchedulingGates = nil })
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-1"}, podNames(t, w, set))
}

// A pod that waits for a node which has been deleted is never scheduled, so the DaemonSet deletes it. A pod that is bound to a deleted
// node is the pod collector's.
func TestADaemonSetDeletesThePodThatWaitsForADeletedNode(t *testing.T) {
	n := node("n1")
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	set := &appsv1.DaemonSet{ObjectMeta: demo("demo"), Spec: appsv1.DaemonSetSpec{Selector: selectDemo(), Template: templateOf("v1")}}
	w := newWorld(t, world.Options{}, n, node("n2"), set)
	require.NoError(t, w.Settle(t.Context()))
	set = got(t, w, set, "demo")
	require.Equal(t, []string{"demo-1", "demo-2"}, podNames(t, w, set))
	for _, name := range []string{"n1", "n2"} {
		require.NoError(t, w.Server().Client("user").Delete(t.Context(), node(name)))
	}
	require.NoError(t, w.SettleOnly(t.Context(), func(s world.Step) bool { return s.Actor == "daemonset-controller" }))
	assert.Equal(t, []string{"demo-2"}, podNames(t, w, set))
	require.NoError(t, w.Wait(t.Context(), 5*time.Minute))
	assert.Empty(t, podNames(t, w, set))
}

// An ended pod that a finalizer keeps after its deletion is no pod of the node any more.
func TestADaemonSetReplacesAnEndedPodThatAFinalizerKeeps(t *testing.T) {
	set := &appsv1.DaemonSet{ObjectMeta: demo("demo"), Spec: appsv1.DaemonSetSpec{Selector: selectDemo(), Template: templateOf("v1")}}
	set.Spec.Template.Finalizers = []string{"example.com/keep"}
	w := newWorld(t, world.Options{}, node("n1"), set)
	require.NoError(t, w.Settle(t.Context()))
	require.NoError(t, w.Server().Client("user").Delete(t.Context(), got(t, w, &corev1.Pod{}, "demo-1")))
	require.NoError(t, w.Wait(t.Context(), time.Minute))
	set = got(t, w, set, "demo")
	assert.Equal(t, []string{"demo-1", "demo-2"}, podNames(t, w, set))
	assert.EqualValues(t, 1, set.Status.NumberReady)
}

// A pod of another owner has the name of a StatefulSet's second pod.
func TestATakenNameStopsAStatefulSet(t *testing.T) {
	taken := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo-1"}, Spec: templateOf("v1").Spec}
	w := newWorld(t, world.Options{}, node("n1"), statefulSet(3, nil), taken)
	require.NoError(t, w.Settle(t.Context()))
	set := got(t, w, &appsv1.StatefulSet{}, "demo")
	assert.Equal(t, []string{"demo-0"}, podNames(t, w, set), "OrderedReady: no pod after the missing one")
	assert.EqualValues(t, 1, set.Status.Replicas)
	assert.EqualValues(t, 1, set.Status.ObservedGeneration)
	steps, err := w.Steps()
	require.NoError(t, err)
	assert.Empty(t, steps)

	require.NoError(t, w.Server().Client("user").Delete(t.Context(), taken))
	require.NoError(t, w.Settle(t.Context()))
	assert.Len(t, podNames(t, w, set), 3, "the name is free")
}

// The controller creates the pods of a Parallel StatefulSet in batches of 1, 2, 4 and so on, and stops after the batch with an error.
func TestATakenNameStopsTheLaterBatchesOfAParallelStatefulSet(t *testing.T) {
	for _, tt := range []struct {
		taken string
		pods  []string
	}{
		{"demo-0", nil},
		{"demo-1", []string{"demo-0", "demo-2"}},
		{"demo-5", []string{"demo-0", "demo-1", "demo-2", "demo-3", "demo-4", "demo-6"}},
	} {
		t.Run(tt.taken, func(t *testing.T) {
			taken := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: tt.taken}, Spec: templateOf("v1").Spec}
			set := statefulSet(9, func(s *appsv1.StatefulSetSpec) { s.PodManagementPolicy = appsv1.ParallelPodManagement })
			w := newWorld(t, world.Options{}, node("n1"), set, taken)
			require.NoError(t, w.Settle(t.Context()))
			set = got(t, w, set, "demo")
			assert.Equal(t, tt.pods, podNames(t, w, set))
			assert.EqualValues(t, 1, set.Status.ObservedGeneration)
			assert.EqualValues(t, len(tt.pods), set.Status.Replicas)
		})
	}
}

// After an error in the creations the controller deletes no pod, neither a surplus one nor one of a former revision.
func TestATakenNameStopsTheReductionOfAParallelStatefulSet(t *testing.T) {
	set := statefulSet(3, func(s *appsv1.StatefulSetSpec) { s.PodManagementPolicy = appsv1.ParallelPodManagement })
	w := newWorld(t, world.Options{}, node("n1"), set)
	require.NoError(t, w.Settle(t.Context()))
	c := w.Server().Client("user")
	require.NoError(t, c.Delete(t.Context(), got(t, w, &corev1.Pod{}, "demo-0"), client.GracePeriodSeconds(0)))
	taken := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo-0"}, Spec: templateOf("v1").Spec}
	require.NoError(t, c.Create(t.Context(), taken))
	edit(t, w, set, func(o *appsv1.StatefulSet) {
		o.Spec.Replicas = new(int32(2))
		withImage("v2")(o)
	})
	require.NoError(t, w.Settle(t.Context()))
	set = got(t, w, set, "demo")
	assert.Equal(t, []string{"demo-1", "demo-2"}, podNames(t, w, set))
	assert.Equal(t, "v1", imageOf(t, w, "demo-1"))
}

// A ReplicaSet that the Deployment doesn't select has the name of its new one.
func TestATakenNameRaisesTheCollisionCount(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), deployment(1, nil))
	steps, err := w.Steps()
	require.NoError(t, err)
	require.Len(t, steps, 1)
	other := map[string]string{"app": "other"}
	template := templateOf("v1")
	template.Labels = other
	taken := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: steps[0].Name}, Spec: appsv1.ReplicaSetSpec{
		Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: other}, Template: template,
	}}
	require.NoError(t, w.Server().Client("user").Create(t.Context(), taken))
	require.NoError(t, w.Settle(t.Context()))
	d := got(t, w, &appsv1.Deployment{}, "demo")
	require.NotNil(t, d.Status.CollisionCount)
	assert.EqualValues(t, 1, *d.Status.CollisionCount)
	assert.EqualValues(t, 1, d.Status.AvailableReplicas)
}

// Whatever the order of steps, a workload whose objects are orphaned and whose names are taken comes to rest.
func TestAdoptionComesToRestInEachOrder(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, world.Options{Seed: seed}, node("n1"), deployment(2, nil))
			require.NoError(t, w.Settle(t.Context()))
			again := recreate(t, w, got(t, w, &appsv1.Deployment{}, "demo"), deployment(3, nil))
			require.NoError(t, w.Settle(t.Context()))
			sets := &appsv1.ReplicaSetList{}
			require.NoError(t, w.Server().Client().List(t.Context(), sets))
			require.Len(t, sets.Items, 1)
			assert.True(t, metav1.IsControlledBy(&sets.Items[0], again))
			assert.Len(t, podNames(t, w, &sets.Items[0]), 3)
		})
	}
}
