package buildertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

func TestWorldsComeToRest(t *testing.T) {
	owner := configMap("owner")
	owner.UID = "1"
	suspended := jobOf(owner, "suspended")
	suspended.Spec.Suspend = new(true)
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "set"}}
	daemons := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "daemons"}}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "budget", Generation: 2}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "claim"}}
	s := newServer(owner, jobOf(owner, "good"), jobOf(owner, "bad"), suspended, deployment("web", "i"), set, daemons, budget, claim)
	world := buildertest.InOrder(
		buildertest.FinishJobs(func(j *batchv1.Job) bool { return j.Name == "good" }),
		buildertest.RollOut,
	)
	c := s.Client("world")
	require.NoError(t, world(t.Context(), c))
	version := s.Version()
	require.NoError(t, world(t.Context(), c))
	require.NoError(t, buildertest.CompleteJobs(t.Context(), c))
	assert.Equal(t, version, s.Version(), "the same state, so nothing to do")

	status := func(name string) batchv1.JobStatus {
		job := jobOf(owner, name)
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(job), job))
		return job.Status
	}
	assert.Equal(t, int32(1), status("good").Succeeded)
	assert.Equal(t, int32(1), status("bad").Failed)
	assert.Empty(t, status("suspended").Conditions)
	web := deployment("web", "i")
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(web), web))
	assert.Equal(t, int32(1), web.Status.ReadyReplicas)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(budget), budget))
	assert.Equal(t, int64(2), budget.Status.ObservedGeneration)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
	assert.Equal(t, corev1.ClaimBound, claim.Status.Phase)
}
