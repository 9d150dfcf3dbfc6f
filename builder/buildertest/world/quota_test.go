package world_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

func TestControllersShareAQuota(t *testing.T) {
	job := job(nil)
	labels := map[string]string{"app": "set"}
	template := *job.Spec.Template.DeepCopy()
	template.Labels, template.Spec.RestartPolicy = labels, corev1.RestartPolicyAlways
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "set"}, Spec: appsv1.StatefulSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template,
	}}
	w := newWorld(t, world.Options{Pods: world.JobsSucceed}, node("n1"), job, set, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one-pod"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	})
	require.NoError(t, w.Settle(t.Context()))
	require.NoError(t, w.Wait(t.Context(), time.Minute))
	pods := &corev1.PodList{}
	require.NoError(t, w.Server().Client().List(t.Context(), pods, client.MatchingLabels(labels)))
	require.Len(t, pods.Items, 1, "the StatefulSet gets its pod after the Job has ended")
	assert.Equal(t, corev1.PodRunning, pods.Items[0].Status.Phase)
}

// A quota on requests refuses pods without them, however long their controller waits.
func TestAControllersPodsNeedTheRequestsThatAQuotaLimits(t *testing.T) {
	set := statefulSet(2, nil)
	w := newWorld(t, world.Options{}, node("n1"), set, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cpu"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("3")}},
	})
	require.NoError(t, w.Settle(t.Context()))
	assert.Empty(t, podNames(t, w, got(t, w, set, "demo")))

	// The API server takes the requests from the limits.
	edit(t, w, set, func(o *appsv1.StatefulSet) {
		o.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	})
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-0"}, podNames(t, w, got(t, w, set, "demo")))
}

// The pod of a lost node terminates for ever. After its grace period a quota of pods no longer counts it.
func TestAQuotaLetsGoOfAPodThatShouldBeDeleted(t *testing.T) {
	n := node("n1")
	set := statefulSet(1, nil)
	w := newWorld(t, world.Options{}, n, node("n2"), set, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one-pod"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	})
	require.NoError(t, w.Settle(t.Context()))
	c := w.Server().Client("user")
	lost := got(t, w, &corev1.Node{}, got(t, w, &corev1.Pod{}, "demo-0").Spec.NodeName)
	lost.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	require.NoError(t, c.Status().Update(t.Context(), lost))
	require.NoError(t, c.Delete(t.Context(), got(t, w, &corev1.Pod{}, "demo-0")))
	other := &corev1.Pod{ObjectMeta: demo("other"), Spec: templateOf("v1").Spec}
	replica := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: *set.Spec.Template.DeepCopy(),
	}}
	replica.Spec.Template.Labels = map[string]string{"app": "web"}
	require.NoError(t, c.Create(t.Context(), replica))
	require.NoError(t, w.Settle(t.Context()))
	require.Error(t, c.Create(t.Context(), other))
	assert.Equal(t, []string{"demo-0"}, podNames(t, w, got(t, w, set, "demo")))
	assert.Empty(t, podNames(t, w, got(t, w, replica, "web")))

	require.NoError(t, w.Wait(t.Context(), 2*time.Minute))
	assert.Len(t, podNames(t, w, got(t, w, replica, "web")), 1)
}

// A Job counts its ended pod though the quota refuses the next one: else the finalizer would keep the ended pod, and with it the quota.
func TestAJobCountsItsPodsWhileAQuotaRefusesAnother(t *testing.T) {
	demo := job(func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = new(int32(2)), new(int32(1)) })
	w := newWorld(t, world.Options{Pods: world.JobsSucceed}, node("n1"), demo, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one-pod"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/pods": resource.MustParse("1")}},
	})
	require.NoError(t, w.Settle(t.Context()))
	assert.EqualValues(t, 1, got(t, w, demo, "demo").Status.Succeeded)
	require.Equal(t, []string{"demo-1"}, podNames(t, w, demo))
	first := got(t, w, &corev1.Pod{}, "demo-1")
	assert.Empty(t, first.Finalizers)

	require.NoError(t, w.Server().Client("user").Delete(t.Context(), first))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-2"}, podNames(t, w, demo))
	assert.EqualValues(t, 2, got(t, w, demo, "demo").Status.Succeeded)
}

// Workloads write their status though a quota refuses their pods.
func TestAWorkloadWritesItsStatusWhileAQuotaRefusesItsPods(t *testing.T) {
	labels := map[string]string{"app": "web"}
	template := templateOf("v1")
	template.Labels = labels
	selector, meta := &metav1.LabelSelector{MatchLabels: labels}, metav1.ObjectMeta{Namespace: "default", Name: "web", Generation: 1}
	none := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "no-pod"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}
	replicas := &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}}
	daemons := &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}}
	ordered := &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template}}
	parallel := ordered.DeepCopy()
	parallel.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	for name, set := range map[string]client.Object{"ReplicaSet": replicas, "DaemonSet": daemons, "StatefulSet": ordered, "parallel": parallel} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, world.Options{}, node("n1"), set, none)
			require.NoError(t, w.Settle(t.Context()))
			var observed int64
			switch set := got(t, w, set, "web").(type) {
			case *appsv1.ReplicaSet:
				observed = set.Status.ObservedGeneration
			case *appsv1.DaemonSet:
				observed = set.Status.ObservedGeneration
				assert.EqualValues(t, 1, set.Status.DesiredNumberScheduled)
			case *appsv1.StatefulSet:
				observed = set.Status.ObservedGeneration
			}
			assert.EqualValues(t, 1, observed)
			assert.Empty(t, podNames(t, w, set))
		})
	}
}

// A DaemonSet that may not create a pod replaces none: its sync ends with the error.
func TestADaemonSetReplacesNoPodWhileAQuotaRefusesAnother(t *testing.T) {
	set := &appsv1.DaemonSet{ObjectMeta: demo("demo"), Spec: appsv1.DaemonSetSpec{Selector: selectDemo(), Template: templateOf("v1")}}
	w := newWorld(t, world.Options{}, node("n1"), set, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one-pod"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	})
	require.NoError(t, w.Settle(t.Context()))
	require.Equal(t, []string{"demo-1"}, podNames(t, w, got(t, w, set, "demo")))
	require.NoError(t, w.Server().Client("user").Create(t.Context(), node("n2")))
	edit(t, w, set, func(o *appsv1.DaemonSet) {
		o.Spec.Template = templateOf("v2")
		o.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(2))
	})
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{"demo-1"}, podNames(t, w, got(t, w, set, "demo")))
	assert.EqualValues(t, 2, set.Status.DesiredNumberScheduled)
	assert.EqualValues(t, 2, set.Status.ObservedGeneration)
}

// The seed decides which controller's pod takes the rest of a quota.
func TestASeedDecidesWhoTakesTheRestOfAQuota(t *testing.T) {
	first := map[string]bool{}
	for seed := range uint64(10) {
		other := job(nil)
		other.Name = "other"
		w := newWorld(t, world.Options{Seed: seed}, node("n1"), job(nil), other, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one-pod"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
		})
		require.NoError(t, w.Settle(t.Context()))
		pods := &corev1.PodList{}
		require.NoError(t, w.Server().Client().List(t.Context(), pods))
		require.Len(t, pods.Items, 1)
		first[pods.Items[0].Name] = true
	}
	assert.Equal(t, map[string]bool{"demo-1": true, "other-1": true}, first)
}

// A Deployment says that a quota refuses the pod of its new ReplicaSet, but not while it is paused.
func TestADeploymentSaysThatAQuotaRefusesAPod(t *testing.T) {
	d := deployment(1, nil)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one-pod"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	}
	w := newWorld(t, world.Options{}, node("n1"), d, quota)
	require.NoError(t, w.Settle(t.Context()))
	failure := func() string {
		for _, c := range got(t, w, &appsv1.Deployment{}, "demo").Status.Conditions {
			if c.Type == appsv1.DeploymentReplicaFailure {
				return fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
			}
		}
		return ""
	}
	assert.Empty(t, failure())
	rollOut(t, w, d, "v2")
	first := failure()
	assert.Regexp(t, `^True FailedCreate pods "demo-\w+-1" is forbidden: exceeded quota: one-pod, `+
		`requested: pods=1, used: pods=1, limited: pods=1$`, first)
	edit(t, w, quota, func(o *corev1.ResourceQuota) { o.Spec.Hard[corev1.ResourcePods] = resource.MustParse("0") })
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, first, failure(), "the message is that of the first refusal")
	edit(t, w, d, func(o *appsv1.Deployment) { o.Spec.Paused = true })
	require.NoError(t, w.Server().Client("user").Delete(t.Context(), quota))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, first, failure(), "a paused Deployment keeps its condition")
	edit(t, w, d, func(o *appsv1.Deployment) { o.Spec.Paused = false })
	require.NoError(t, w.Settle(t.Context()))
	assert.Empty(t, failure())
}
