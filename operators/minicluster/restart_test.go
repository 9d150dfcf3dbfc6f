package minicluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestALostWorkerIsReplaced(t *testing.T) {
	w := newWorld(makeCluster(3))
	w.settle()
	w.ready(0, 1, 2)
	w.settle()
	for _, code := range []int32{exitWorker, exitKilled, exitStopped} {
		w.exit(1, code)
		w.settle()
		assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)
		w.says(t, v1alpha1.MiniClusterPodsReady, false, v1alpha1.ReasonPodsNotReady)
		w.ready(1)
		w.settle()
		w.says(t, v1alpha1.MiniClusterPodsReady, true, v1alpha1.ReasonPodsReady)
	}
	assert.Zero(t, w.c.Status.Restarts)
	assert.Equal(t, int32(3), w.c.Status.Size)
}

func TestALostLeaderRestartsTheGang(t *testing.T) {
	w := newWorld(makeCluster(2, backoffLimit(2)))
	for attempt := range 3 {
		w.settle()
		require.Equal(t, itoa(int32(attempt)), w.job.Labels[LabelAttempt])
		require.Equal(t, itoa(int32(attempt)), w.job.Spec.Template.Labels[LabelAttempt])
		w.ready(0, 1)
		w.settle()
		w.exit(0, int32(10+attempt))
		w.pass()
		w.sync()
		w.pass()
		if attempt < 2 {
			assert.Equal(t, v1alpha1.MiniClusterStateRestarting, w.c.Status.State)
			assert.Nil(t, w.c.Status.ExitCode)
		}
	}
	w.settle()
	assert.Equal(t, v1alpha1.MiniClusterStateFailed, w.c.Status.State)
	assert.Equal(t, int32(2), w.c.Status.Restarts)
	assert.Equal(t, ptr.To[int32](12), w.c.Status.ExitCode)
	assert.Contains(t, apimeta.FindStatusCondition(w.c.Status.Conditions, v1alpha1.ConditionFailed).Message, "(after 2 restarts)")
}

func TestTheJobOfBeforeGoesWhenItsPodsHaveStopped(t *testing.T) {
	w := newWorld(makeCluster(2, backoffLimit(1)))
	w.settle()
	w.ready(0, 1)
	w.pass()
	w.exit(0, 1)
	w.job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	w.pass()
	assert.Equal(t, int32(1), w.c.Status.Restarts)
	for range 3 {
		w.pass()
		require.NotNil(t, w.job)
	}
	w.exit(1, exitStopped)
	w.pass()
	assert.Nil(t, w.job)
	w.pass()
	assert.Equal(t, "1", w.job.Labels[LabelAttempt])
}
