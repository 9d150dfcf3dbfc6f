package uiserver

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/wellknown"
)

func waitingJob(name, queue string) *v1alpha1.FluxJob {
	job := &v1alpha1.FluxJob{}
	job.Namespace, job.Name, job.Spec.Queue = "a", name, queue
	job.Spec.Image, job.Spec.Command = "busybox", "true"
	return job
}

func TestQueuesAreLive(t *testing.T) {
	api := newAPI(t)
	c := api.Client()
	begun := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	setup := &v1alpha1.FluxSetup{}
	setup.Name, setup.Spec.Quota.Pods = "batch", ptr.To[int32](4)
	require.NoError(t, c.Create(t.Context(), setup))
	idle := &v1alpha1.FluxSetup{}
	idle.Name = "idle"
	require.NoError(t, c.Create(t.Context(), idle))
	runs := waitingJob("runs", "batch")
	runs.Spec.DeadlineSeconds = ptr.To[int64](3600)
	require.NoError(t, c.Create(t.Context(), runs))
	setup.Status = v1alpha1.FluxSetupStatus{
		PendingWorkloads: 1,
		Usage: []v1alpha1.FluxResourceUsage{{
			Name: "pods", Quota: resource.MustParse("4"), Used: resource.MustParse("3"), Free: resource.MustParse("1"),
		}},
		Reservations: []v1alpha1.FluxReservation{{Namespace: "a", Name: "runs", UID: runs.UID, Time: begun, Pods: 3}},
		Queue: []v1alpha1.FluxQueueEntry{
			{Namespace: "a", Name: "waits", Reason: v1alpha1.ReasonWaitingForQuota, Resource: "pods"},
			{Namespace: "a", Name: "waits-behind", Reason: v1alpha1.ReasonWaitingForQuota, Resource: "pods"},
		},
	}
	require.NoError(t, c.Status().Update(t.Context(), setup))

	l := newSite(t, api).listen("/api/stream/queues")
	l.until("synced", nil)
	waits := waitingJob("waits", "batch")
	waits.Spec.Size = ptr.To[int32](2)
	require.NoError(t, c.Create(t.Context(), waits))
	behind := waitingJob("waits-behind", "batch") // in order also if both are created in the same second
	behind.Spec.Size = ptr.To[int32](4)
	require.NoError(t, c.Create(t.Context(), behind))
	position := int32(1)
	waits.Status.Position = &position
	waits.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionJobWaitingForResources, Status: "True", Reason: v1alpha1.ReasonWaitingForQuota, Message: "needs 2 pods", LastTransitionTime: begun,
	}}
	require.NoError(t, c.Status().Update(t.Context(), waits))
	changed := decoded[[]queueView](t, l.until("set", has("needs 2 pods")))
	require.Len(t, changed, 1, "the queue that it is about")
	q := changed[0]
	assert.Equal(t, "batch", q.Name)
	assert.InDelta(t, 0.75, q.Usage[0].Share, 0.001)
	end := begun.Add(time.Hour)
	assert.Equal(t, end, *q.Admitted[0].Ends)
	require.NotNil(t, q.Waiting[0].ETA, q.Waiting[0].ETAUnknown)
	assert.Equal(t, end, *q.Waiting[0].ETA)
	assert.Empty(t, q.Waiting[0].ETAUnknown)
	assert.Nil(t, q.Waiting[1].ETA)
	assert.Equal(t, "job a/waits has no deadlineSeconds", q.Waiting[1].ETAUnknown)

	lost := waitingJob("lost", "gone")
	require.NoError(t, c.Create(t.Context(), lost))
	lost.Status.Conditions = waits.Status.Conditions
	require.NoError(t, c.Status().Update(t.Context(), lost))
	q = decoded[[]queueView](t, l.until("set", has(`"gone"`)))[0]
	assert.True(t, q.Missing)
	assert.Equal(t, "the queue doesn't exist", q.Waiting[0].ETAUnknown)
	require.NoError(t, c.Delete(t.Context(), lost))
	assert.JSONEq(t, `["gone"]`, l.until("gone", nil))
}

// A viewer who may not list FluxSetups sees who waits, and isn't told that the queue doesn't exist, or that nobody runs.
func TestQueuesOfAViewerWhoMayNotSeeThem(t *testing.T) {
	setup := &v1alpha1.FluxSetup{}
	setup.Name = "batch"
	waits := waitingJob("waits", "batch")
	waits.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionJobWaitingForResources, Status: "True", Reason: v1alpha1.ReasonWaitingForQuota, LastTransitionTime: metav1.Now(),
	}}
	api := newAPI(t, setup, waits)
	api.deny(func(_, kind, _ string) bool { return kind == "FluxSetup" })
	l := newSite(t, api).listen("/api/stream/queues")
	q := decoded[[]queueView](t, l.until("set", has(`"hidden":true`)))[0]
	assert.False(t, q.Missing)
	assert.Equal(t, "you may not list FluxSetups", q.Waiting[0].ETAUnknown)
	api.deny(nil)
	q = decoded[[]queueView](t, l.until("set", nil))[0]
	assert.False(t, q.Hidden || q.Missing)
}

// A stream is open for days: it keeps nothing of the jobs that have left.
func TestWhatLeavesAQueueIsForgotten(t *testing.T) {
	version := func(holders ...string) *v1alpha1.FluxSetup {
		setup := &v1alpha1.FluxSetup{}
		setup.Name, setup.UID = "batch", "u"
		for _, name := range holders {
			setup.Status.Reservations = append(setup.Status.Reservations, v1alpha1.FluxReservation{Namespace: "a", Name: name})
		}
		return setup
	}
	b := newQueueBook()
	for _, setup := range []*v1alpha1.FluxSetup{version("x", "y"), version("y", "z")} {
		b.take(changes[*v1alpha1.FluxSetup]{set: []*v1alpha1.FluxSetup{setup}}, changes[*v1alpha1.FluxJob]{})
	}
	assert.Equal(t, map[types.NamespacedName]string{{Namespace: "a", Name: "y"}: "batch", {Namespace: "a", Name: "z"}: "batch"}, b.holders)
	b.take(changes[*v1alpha1.FluxSetup]{gone: []types.UID{"u"}}, changes[*v1alpha1.FluxJob]{})
	assert.Empty(t, b.holders)
}

// The stream of queues holds each job. Its pause counts: a paused job keeps its quota.
func TestAJobOfAQueueIsSmall(t *testing.T) {
	job := waitingJob("j", "batch")
	job.Spec.Image, job.Spec.Command = "", ""
	job.Annotations = map[string]string{wellknown.AnnotationPaused: "true", "note": strings.Repeat("x", 10_000)}
	job.Labels = map[string]string{v1alpha1.LabelKueueQueue: "k", "note": "x"}
	job.Spec.MiniCluster = &v1alpha1.MiniClusterSpec{Size: 3, DeadlineSeconds: ptr.To[int64](60)}
	job.Spec.MiniCluster.Pod.Tolerations = make([]corev1.Toleration, 1000)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	require.NoError(t, err)
	kept := fluxJobOf(&unstructured.Unstructured{Object: content})
	text, err := json.Marshal(kept)
	require.NoError(t, err)
	assert.Less(t, len(text), 1000)
	assert.Equal(t, map[string]string{wellknown.AnnotationPaused: "true"}, kept.Annotations)
	assert.Equal(t, map[string]string{v1alpha1.LabelKueueQueue: "k"}, kept.Labels)
	assert.Equal(t, int32(3), kept.Spec.MiniCluster.Size)
	assert.Equal(t, job.Spec.MiniCluster.DeadlineSeconds, kept.Spec.MiniCluster.DeadlineSeconds)
}
