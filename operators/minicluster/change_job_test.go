package minicluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

func TestScale(t *testing.T) {
	w := newWorld(makeCluster(2, func(c *v1alpha1.MiniCluster) { c.Spec.MaxSize, c.Spec.MinSize = 5, 2 }))
	w.settle()
	w.ready(0, 1)
	w.settle()
	rendered := brokerConfig(w.c) + settings(w.c)
	w.c.Spec.Size, w.c.Generation = 4, 2
	w.settle()
	assert.Equal(t, int32(4), *w.job.Spec.Completions)
	assert.Equal(t, int32(4), *w.job.Spec.Parallelism)
	assert.Equal(t, int32(4), w.c.Status.Size)
	w.says(t, v1alpha1.MiniClusterPodsReady, false, v1alpha1.ReasonPodsNotReady)
	assert.Equal(t, rendered, brokerConfig(w.c)+settings(w.c), "scaling changes nothing in the configuration")
	w.ready(2, 3)
	w.c.Spec.Size, w.c.Generation = 3, 3
	w.settle()
	assert.Nil(t, w.pod(3), "down by the highest rank")
	w.says(t, v1alpha1.MiniClusterPodsReady, true, v1alpha1.ReasonPodsReady)
	assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)
	assert.Equal(t, int32(5), w.c.Status.MaximumSize)
	assert.Contains(t, w.told, v1alpha1.ReasonScaled)
	assert.Equal(t, LabelUID+"=demo-uid,batch.kubernetes.io/job-name=demo", w.c.Status.Selector)

	w.c.Spec.Size, w.c.Generation = 6, 4
	w.settle()
	assert.Equal(t, int32(3), *w.job.Spec.Completions, "over the maximum")
	w.says(t, events.ConditionStalled, true, v1alpha1.ReasonInvalidSpec)
	w.c.Spec.Size, w.c.Generation = 3, 5
	w.settle()
	assert.False(t, w.hasCondition(events.ConditionStalled))
}

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

func TestSuspend(t *testing.T) {
	w := newWorld(makeCluster(2, suspended, func(c *v1alpha1.MiniCluster) { c.Spec.DeadlineSeconds = ptr.To[int64](60) }))
	w.settle()
	assert.Nil(t, w.job)
	assert.Equal(t, v1alpha1.MiniClusterStateSuspended, w.c.Status.State)
	w.says(t, v1alpha1.MiniClusterAdmitted, false, v1alpha1.ReasonSuspended)
	assert.Nil(t, w.c.Status.StartTime)

	w.now = w.now.Add(time.Hour)
	w.c.Spec.Suspend, w.c.Generation = false, 2
	w.settle()
	w.ready(0, 1)
	w.settle()
	assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)
	assert.Equal(t, int64(60), *w.job.Spec.ActiveDeadlineSeconds)

	w.now = w.now.Add(30 * time.Second)
	w.c.Spec.Suspend, w.c.Generation = true, 3
	w.settle()
	assert.True(t, isSuspended(w.job))
	assert.Empty(t, w.pods)
	assert.Nil(t, w.c.Status.Leader)
	assert.Equal(t, v1alpha1.MiniClusterStateSuspended, w.c.Status.State)

	w.now = w.now.Add(time.Hour)
	w.c.Spec.Suspend, w.c.Generation = false, 4
	uid := w.job.UID
	w.settle()
	assert.Equal(t, uid, w.job.UID, "the same Job goes on")
	assert.Equal(t, metav1.NewTime(w.now), *w.c.Status.StartTime, "the deadline begins anew")
	assert.Zero(t, w.c.Status.Restarts, "that is no restart")
	w.ready(0, 1)
	w.settle()
	assert.Equal(t, []string{
		v1alpha1.ReasonSuspended, v1alpha1.ReasonResumed, v1alpha1.ReasonRunning,
		v1alpha1.ReasonSuspended, v1alpha1.ReasonResumed, v1alpha1.ReasonRunning,
	}, w.told)
}

func TestWhatChangesWhileSuspendedHolds(t *testing.T) {
	w := newWorld(makeCluster(2))
	w.settle()
	w.c.Spec.Suspend, w.c.Generation = true, 2
	w.settle()
	w.c.Spec.Containers[0].Image = "lammps:2"
	w.c.Spec.Suspend, w.c.Generation = false, 3
	w.settle()
	assert.Equal(t, "lammps:2", w.job.Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, v1alpha1.MiniClusterStateStarting, w.c.Status.State)
}

func TestKueueIsTheQueue(t *testing.T) {
	w := newWorld(makeCluster(2, queued, backoffLimit(1)))
	w.settle()
	require.NotNil(t, w.job)
	assert.Equal(t, "users", w.job.Labels[LabelQueue])
	assert.True(t, isSuspended(w.job))
	assert.Equal(t, v1alpha1.MiniClusterStatePending, w.c.Status.State)
	w.says(t, v1alpha1.MiniClusterAdmitted, false, v1alpha1.ReasonQueued)

	w.job.Spec.Suspend = new(false) // by Kueue
	w.settle()
	w.ready(0, 1)
	w.settle()
	w.says(t, v1alpha1.MiniClusterAdmitted, true, v1alpha1.ReasonAdmitted)
	assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)

	w.job.Spec.Suspend = new(true) // by Kueue, which preempts it
	w.settle()
	assert.Equal(t, v1alpha1.MiniClusterStatePending, w.c.Status.State)
	assert.True(t, isSuspended(w.job), "that is Kueue's to decide")

	w.c.Spec.Suspend, w.c.Generation = true, 2
	w.settle()
	assert.Nil(t, w.job, "Kueue would start it")
	w.c.Spec.Suspend, w.c.Generation = false, 3
	w.settle()
	assert.True(t, isSuspended(w.job))
	assert.Zero(t, w.c.Status.Restarts)
}
