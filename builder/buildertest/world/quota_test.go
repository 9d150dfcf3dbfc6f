package world_test

import (
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
