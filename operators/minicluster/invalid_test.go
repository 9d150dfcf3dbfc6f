package minicluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// runningInvalid returns the world of a cluster that runs, and whose spec has become invalid.
func runningInvalid(t *testing.T) *world {
	w := newWorld(makeCluster(2, backoffLimit(3)))
	w.settle()
	w.ready(0, 1)
	w.settle()
	w.c.Spec.Size, w.c.Spec.Pod.RestartPolicy, w.c.Generation = 9, "Always", 2
	w.settle()
	w.says(t, events.ConditionStalled, true, v1alpha1.ReasonInvalidSpec)
	w.says(t, events.ConditionReady, false, v1alpha1.ReasonInvalidSpec)
	w.says(t, v1alpha1.MiniClusterRunning, true, v1alpha1.ReasonRunning)
	assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)
	require.Equal(t, int32(2), *w.job.Spec.Parallelism)
	w.now = w.now.Add(time.Minute)
	plan := w.pass()
	assert.Nil(t, plan.Status, "nothing new is said")
	assert.Empty(t, plan.Events)
	return w
}

func TestAnInvalidClusterThatRunsIsSuspended(t *testing.T) {
	w := runningInvalid(t)
	w.c.Spec.Suspend, w.c.Generation = true, 3
	w.settle()
	assert.Empty(t, w.pods)
	assert.Equal(t, v1alpha1.MiniClusterStateSuspended, w.c.Status.State)
	w.says(t, events.ConditionStalled, true, v1alpha1.ReasonInvalidSpec)
	w.says(t, v1alpha1.MiniClusterRunning, false, v1alpha1.ReasonInvalidSpec)
	assert.Nil(t, w.pass().Status, "nothing new is said")

	w.c.Spec.Suspend, w.c.Generation = false, 4
	w.settle()
	assert.Empty(t, w.pods, "it isn't started as it is")
	w.c.Spec.Size, w.c.Spec.Pod.RestartPolicy, w.c.Generation = 2, "", 5
	w.settle()
	assert.Len(t, w.pods, 2)
	assert.False(t, w.hasCondition(events.ConditionStalled))
	assert.Zero(t, w.c.Status.Restarts)
}

func TestTheDeadlineOfAnInvalidCluster(t *testing.T) {
	w := runningInvalid(t)
	w.c.Spec.DeadlineSeconds, w.c.Generation = ptr.To[int64](90), 3
	w.settle()
	require.Equal(t, int64(90), *w.job.Spec.ActiveDeadlineSeconds)
	w.now = w.now.Add(time.Minute)
	w.settle()
	w.says(t, v1alpha1.ConditionFailed, true, v1alpha1.ReasonDeadlineExceeded)
	w.says(t, events.ConditionStalled, true, v1alpha1.ReasonDeadlineExceeded)
}

// What is lost can't be started again as the spec is, and must not be started again by the Job unseen.
func TestAnInvalidClusterThatLosesItsLeader(t *testing.T) {
	for name, happens := range map[string]func(*world){
		"deleted":            func(w *world) { w.vanish(0) },
		"stopped":            func(w *world) { w.exit(0, exitStopped) },
		"the Job is deleted": func(w *world) { w.job, w.pods = nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := runningInvalid(t)
			happens(w)
			w.settle()
			assert.Equal(t, v1alpha1.MiniClusterStateFailed, w.c.Status.State)
			assert.Zero(t, w.c.Status.Restarts)
			assert.True(t, (&pass{c: w.c}).observe(w.view()).isStill())
			w.says(t, events.ConditionReady, false, w.told[len(w.told)-1])
		})
	}
}

func TestAnInvalidClusterSucceeds(t *testing.T) {
	w := runningInvalid(t)
	w.exit(0, 0)
	w.settle()
	w.says(t, v1alpha1.ConditionSucceeded, true, v1alpha1.ReasonSucceeded)
	w.says(t, events.ConditionReady, true, v1alpha1.ReasonSucceeded)
	assert.False(t, w.hasCondition(events.ConditionStalled))
}

// A spec that names no container that does the work can't be rendered.
func TestAClusterWithoutAWorker(t *testing.T) {
	w := runningInvalid(t)
	w.c.Spec.Containers = append(w.c.Spec.Containers, w.c.Spec.Containers[0])
	w.c.Generation = 3
	w.settle()
	assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)
	w.c.Spec.Suspend, w.c.Generation = true, 4
	w.settle()
	assert.Empty(t, w.pods)
}
