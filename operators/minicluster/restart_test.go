package minicluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

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
