package builder_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

func webDeployment() *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.DeploymentSpec{Selector: webLabels(), Template: webPod(), Replicas: ptr.To[int32](0)},
	}
}

func TestRemovedFieldsAreRemoved(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{})
	wanted := webDeployment()
	_, _, err := w.pass(wanted)
	require.NoError(t, err)

	pod := &wanted.Spec.Template.Spec
	pod.Containers[0].Env = pod.Containers[0].Env[:1]
	pod.Containers[0].LivenessProbe = nil
	pod.Tolerations = nil
	pod.NodeSelector = map[string]string{"disk": "ssd"}
	w.assertChanged(wanted, 2, "fields removed")
	got := w.get(wanted).(*appsv1.Deployment).Spec.Template.Spec
	assert.Len(t, got.Containers[0].Env, 1)
	assert.Nil(t, got.Containers[0].LivenessProbe)
	assert.Empty(t, got.Tolerations)
	assert.Equal(t, corev1.RestartPolicyAlways, got.RestartPolicy, "defaults come back")

	pod.NodeSelector = nil
	w.assertChanged(wanted, 1, "a field that was applied is removed")
	assert.Empty(t, w.get(wanted).(*appsv1.Deployment).Spec.Template.Spec.NodeSelector)
}

func TestFieldRemovedAfterDriftWasRepaired(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"a": "1", "b": "2"}}
	_, _, err := w.pass(wanted)
	require.NoError(t, err)
	w.edit(wanted, func(o client.Object) { o.(*corev1.ConfigMap).Data["a"] = "other" })
	w.assertChanged(wanted, 1, "drift")

	delete(wanted.Data, "a")
	delete(wanted.Data, "b")
	w.assertChanged(wanted, 2, "both the repaired field and the other")
	assert.Empty(t, w.get(wanted).(*corev1.ConfigMap).Data)
}

func TestFieldsOfOthersAreKept(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{})
	wanted := webDeployment()
	wanted.Spec.Replicas = nil
	_, _, err := w.pass(wanted)
	require.NoError(t, err)
	w.edit(wanted, func(o client.Object) {
		d := o.(*appsv1.Deployment)
		d.Spec.Replicas = ptr.To[int32](0)
		d.Labels["theirs"] = "x"
		d.Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullNever
	})
	w.assertUnchanged(wanted)
	wanted.Spec.Template.Spec.Containers[0].Image = "other"
	w.assertChanged(wanted, 2, "our field")
	got := w.get(wanted).(*appsv1.Deployment)
	assert.Zero(t, *got.Spec.Replicas)
	assert.Equal(t, "x", got.Labels["theirs"])
	assert.Equal(t, corev1.PullNever, got.Spec.Template.Spec.Containers[0].ImagePullPolicy)
}

func TestObjectReadFromTheClusterCanBeWanted(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{})
	_, _, err := w.pass(webDeployment())
	require.NoError(t, err)
	read := w.get(webDeployment())
	before := read.DeepCopyObject()
	w.assertChanged(read, 2, "defaults are wanted now")
	assert.Equal(t, before, read, "what is wanted isn't changed")
	w.settle(read)
	w.assertUnchanged(read)
}

func TestManyOneDrifted(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	var all []client.Object
	for i := range 60 {
		all = append(all, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c-", i)}, Data: map[string]string{"a": "1"}})
	}
	res, sent, err := w.pass(all...)
	require.NoError(t, err)
	assert.Len(t, res.Changes, 60)
	assert.Len(t, sent, 60)
	assert.Equal(t, []string{"Normal Created Apply: Created 60 objects of kind ConfigMap: c-0, c-1, c-10 and 57 more"}, w.told.take())

	res, sent, err = w.pass(all...)
	require.NoError(t, err)
	assert.Empty(t, sent)
	assert.Equal(t, 60, res.Unchanged)

	w.edit(all[7], func(o client.Object) { o.(*corev1.ConfigMap).Data["a"] = "2" })
	res, sent, err = w.pass(all...)
	require.NoError(t, err)
	assert.Len(t, sent, 1)
	assert.Equal(t, 59, res.Unchanged)
	require.Len(t, res.Changes, 1)
	assert.Equal(t, "c-7", res.Changes[0].Key.Name)
	assert.Equal(t, events.ReasonUpdated, res.Changes[0].Reason)
	assert.Equal(t, []string{"Normal Updated Apply: Updated ConfigMap c-7"}, w.told.take())
}

func TestRestartCostsNothing(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{})
	_, _, err := w.pass(webDeployment())
	require.NoError(t, err)
	again := builder.NewEngine(w.cached, builder.Options{Name: "tester"}) // nothing in its memory
	res, sent, err := w.passFor(again.For(w.owner), webDeployment())
	require.NoError(t, err)
	assert.Empty(t, sent)
	assert.Equal(t, 1, res.Unchanged)
}
