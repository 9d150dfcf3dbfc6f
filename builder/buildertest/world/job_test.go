package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

func newWorld(t *testing.T, o world.Options, objs ...client.Object) *world.World {
	t.Helper()
	w := world.New(buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(objs...)), o)
	return w
}

func node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func job(change func(*batchv1.JobSpec)) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"}, Spec: batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}},
		}},
	}}
	if change != nil {
		change(&job.Spec)
	}
	return job
}

func TestAJobSucceeds(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), job(nil))
	require.NoError(t, w.Script("*", world.Script{Ends: true, Run: time.Minute}))
	require.NoError(t, w.Idle(t.Context(), time.Hour))
	var got batchv1.Job
	require.NoError(t, w.Server().Client().Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "demo"}, &got))
	assert.EqualValues(t, 1, got.Status.Succeeded)
	require.Len(t, got.Status.Conditions, 2)
	assert.Equal(t, batchv1.JobComplete, got.Status.Conditions[1].Type)
	assert.Equal(t, buildertest.Epoch.Add(time.Minute), got.Status.CompletionTime.UTC())
	t.Log(w.Server().Ledger())
}

func TestAPodThatATaintEvictsIsDisrupted(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), node("n2"), job(func(s *batchv1.JobSpec) {
		s.BackoffLimit = new(int32)
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:          batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		}}}
	}))
	require.NoError(t, w.Settle(t.Context()))
	c := w.Server().Client()
	first := &corev1.Pod{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "demo-1"}, first))
	tainted := node(first.Spec.NodeName)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(tainted), tainted))
	tainted.Spec.Taints = []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}}
	require.NoError(t, c.Update(t.Context(), tainted))
	require.NoError(t, w.Idle(t.Context(), time.Hour))

	var got batchv1.Job
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "demo"}, &got))
	assert.Zero(t, got.Status.Failed)
	assert.EqualValues(t, 1, got.Status.Active)
	pods := &corev1.PodList{}
	require.NoError(t, c.List(t.Context(), pods))
	require.Len(t, pods.Items, 1)
	assert.NotEqual(t, first.UID, pods.Items[0].UID)
	assert.NotEqual(t, first.Spec.NodeName, pods.Items[0].Spec.NodeName)
}

// Deleting a Job orphans its pods by default. The Job controller then removes its finalizer from them, so that they can be deleted.
func TestAnOrphanOfAJobLosesItsFinalizer(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), job(nil))
	require.NoError(t, w.Settle(t.Context()))
	c := w.Server().Client("user")
	require.NoError(t, c.Delete(t.Context(), got(t, w, &batchv1.Job{}, "demo")))
	require.NoError(t, w.Settle(t.Context()))
	pod := got(t, w, &corev1.Pod{}, "demo-1")
	assert.Empty(t, pod.OwnerReferences)
	assert.Empty(t, pod.Finalizers)
	require.NoError(t, c.Delete(t.Context(), pod))
	require.NoError(t, w.Idle(t.Context(), time.Hour))
	assert.Empty(t, podNames(t, w, nil))
}

// Another controller's Job keeps the finalizers of its pods after its end.
func TestTheJobControllerLeavesPodsOfAnotherControllersJob(t *testing.T) {
	other := job(func(s *batchv1.JobSpec) { s.ManagedBy = new("example.com/other") })
	w := newWorld(t, world.Options{}, other)
	c := w.Server().Client("example.com/other")
	pod := &corev1.Pod{ObjectMeta: demo("demo-1"), Spec: other.Spec.Template.Spec}
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	other = got(t, w, &batchv1.Job{}, "demo")
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(other, batchv1.SchemeGroupVersion.WithKind("Job"))}
	require.NoError(t, c.Create(t.Context(), pod))
	other.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	require.NoError(t, c.Status().Update(t.Context(), other))
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, []string{batchv1.JobTrackingFinalizer}, got(t, w, &corev1.Pod{}, "demo-1").Finalizers)
}
