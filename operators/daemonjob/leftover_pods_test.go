package daemonjob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestANodeWaitsForThePodsOfItsFormerJob(t *testing.T) {
	for _, unavailable := range []v1alpha1.UnavailableNodes{v1alpha1.UnavailableWait, v1alpha1.UnavailableSkip} {
		w := worldOf(2, makeJob(func(s *v1alpha1.DaemonJobSpec) { s.UnavailableNodes = unavailable }))
		w.pass()
		require.Len(t, w.jobs, 2)
		pod := podOf(w, "demo-n1")
		delete(w.jobs, "demo-n1")
		w.named = append(w.named, pod)
		w.started()
		w.complete("n2")
		w.pass()
		assert.Empty(t, w.started())
		assert.Equal(t, v1alpha1.StateRunning, w.job.Status.State)
		assert.EqualValues(t, 1, w.job.Status.Active)
		assert.Contains(t, w.ready().Message, "1 of 2 nodes succeeded, 1 waiting for old pods to end (n1 demo-n1-x)")
		pod.Status.Phase = corev1.PodFailed
		w.pass()
		assert.Equal(t, "n1", w.started())
	}
}

func TestANewNodeDoesNotWaitForThePodsOfItsPredecessor(t *testing.T) {
	w := worldOf(1, makeJob())
	w.pass()
	pod := podOf(w, "demo-n1")
	pod.CreationTimestamp = at(1)
	delete(w.jobs, "demo-n1")
	w.named = append(w.named, pod)
	w.started()
	w.pass()
	assert.Empty(t, w.started())
	w.change("n1", func(n *corev1.Node) { n.UID, n.CreationTimestamp = "anew", at(2) })
	w.pass()
	assert.Equal(t, "n1", w.started())
}

func TestANodesJobIsResumedOnceItsPodsHaveEnded(t *testing.T) {
	w := worldOf(1, makeJob())
	w.pass()
	pod := podOf(w, "demo-n1")
	w.pods = append(w.pods, pod)
	w.edit(func(s *v1alpha1.DaemonJobSpec) { s.Suspend = true })
	w.pass()
	require.True(t, *w.jobs["demo-n1"].Spec.Suspend)
	w.edit(func(s *v1alpha1.DaemonJobSpec) { s.Suspend = false })
	w.pass()
	w.pass()
	assert.True(t, *w.jobs["demo-n1"].Spec.Suspend)
	assert.Contains(t, w.ready().Message, "1 waiting for old pods to end (n1 demo-n1-x)")
	pod.Status.Phase = corev1.PodFailed
	w.pass()
	assert.False(t, *w.jobs["demo-n1"].Spec.Suspend)
}

// podOf returns a pod that a Job has, running.
func podOf(w *world, name string) *corev1.Pod {
	job := w.jobs[name]
	job.UID = types.UID(name)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: name + "-x", Labels: job.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: name, UID: job.UID, Controller: new(true)}},
	}}
	pod.Status.Phase = corev1.PodRunning
	return pod
}
