package builder

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/readiness"
)

func TestReadinessOfJobs(t *testing.T) {
	job := func(kind batchv1.JobConditionType) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: "R", Message: "m"}}}}
	}
	for name, c := range map[string]struct {
		obj  client.Object
		want readiness.Status
	}{
		"running":   {&batchv1.Job{Status: batchv1.JobStatus{Active: 1}}, readiness.Status{Message: "is not complete: 0 succeeded, 1 active, 0 failed"}},
		"complete":  {job(batchv1.JobComplete), readiness.Status{Ready: true}},
		"failed":    {job(batchv1.JobFailed), readiness.Status{Failed: true, Message: "R: m"}},
		"suspended": {job(batchv1.JobSuspended), readiness.Status{Message: "is suspended"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, readiness.Of(c.obj)) })
	}
}

// A claim that nothing uses isn't waited for, once it is clear that no one looks for its volume.
func TestUnusedClaim(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	e := engineWith(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
		obj.SetCreationTimestamp(metav1.NewTime(now))
		obj.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimPending
		return c.Create(ctx, obj, opts...)
	}})
	e.now = func() time.Time { return now }
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("slow")}}
	pass := func() Result {
		res, err := e.For(owner()).Object(claim).Reconcile(t.Context())
		require.NoError(t, err)
		return res
	}
	res := pass()
	require.Len(t, res.notReady(), 1)
	assert.Equal(t, "PersistentVolumeClaim default/data: is not bound", res.notReady()[0].String())
	assert.Equal(t, claimShows, res.RequeueAfter)
	now = now.Add(claimShows - time.Second)
	res = pass()
	assert.Len(t, res.notReady(), 1)
	assert.Equal(t, time.Second, res.RequeueAfter)
	now = now.Add(time.Second)
	res = pass()
	assert.Empty(t, res.notReady())
	assert.Zero(t, res.RequeueAfter)

	found := &corev1.PersistentVolumeClaim{}
	require.NoError(t, e.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "data"}, found))
	found.Annotations["volume.kubernetes.io/selected-node"] = "node" // a pod
	require.NoError(t, e.client.Update(t.Context(), found))
	assert.Len(t, pass().notReady(), 1)
}
