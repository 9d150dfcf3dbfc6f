package minicluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// A pod that is stopped may end with any code, and the Job's policy takes that for the end of the work. It isn't, when the
// cluster is suspended.
func TestSuspendWhilePodsStart(t *testing.T) {
	for name, resumed := range map[string]func(*v1alpha1.MiniCluster){
		"suspended": func(*v1alpha1.MiniCluster) {},
		"resumed":   func(c *v1alpha1.MiniCluster) { c.Spec.Suspend, c.Generation = false, 3 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(makeCluster(2))
			w.settle()
			w.ready(0, 1)
			w.settle()
			w.c.Spec.Suspend, w.c.Generation = true, 2
			w.settle()
			w.job.Status.Conditions = append(w.job.Status.Conditions, batchv1.JobCondition{
				Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonPodFailurePolicy,
			})
			resumed(w.c)
			w.settle()
			if w.c.Spec.Suspend {
				assert.Equal(t, v1alpha1.MiniClusterStateSuspended, w.c.Status.State)
				w.c.Spec.Suspend, w.c.Generation = false, 3
				w.settle()
			}
			require.NotNil(t, w.job)
			assert.Empty(t, w.job.Status.Conditions, "it is another Job")
			assert.False(t, isSuspended(w.job))
			w.ready(0, 1)
			w.settle()
			assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)
			assert.Zero(t, w.c.Status.Restarts, "that is no restart")
		})
	}
}
