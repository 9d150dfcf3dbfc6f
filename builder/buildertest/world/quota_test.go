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
