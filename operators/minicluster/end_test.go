package minicluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

func TestSuccess(t *testing.T) {
	w := newWorld(makeCluster(2))
	w.settle()
	w.says(t, v1alpha1.MiniClusterBrokerReady, false, v1alpha1.ReasonBrokerNotReady)
	w.ready(0)
	w.settle()
	w.says(t, v1alpha1.MiniClusterBrokerReady, true, v1alpha1.ReasonBrokerReady)
	w.says(t, v1alpha1.MiniClusterPodsReady, false, v1alpha1.ReasonPodsNotReady)
	w.says(t, v1alpha1.MiniClusterRunning, true, v1alpha1.ReasonRunning)
	w.ready(1)
	w.settle()
	w.says(t, v1alpha1.MiniClusterPodsReady, true, v1alpha1.ReasonPodsReady)
	assert.Equal(t, int32(2), w.c.Status.ReadyPods)
	assert.Equal(t, "demo-0-1", w.c.Status.Leader.Pod)
	w.exit(1, 0)
	w.settle()
	assert.Nil(t, w.c.Status.CompletionTime, "a worker's exit code 0 means nothing")
	w.now = noon.Add(time.Minute)
	w.exit(0, 0)
	w.pass()
	assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State, "the Job has yet to end; it doesn't start again")
	w.settle()
	assert.Equal(t, v1alpha1.MiniClusterStateSucceeded, w.c.Status.State)
	assert.Equal(t, ptr.To[int32](0), w.c.Status.ExitCode)
	assert.Equal(t, metav1.NewTime(w.now), *w.c.Status.CompletionTime)
	w.says(t, v1alpha1.ConditionSucceeded, true, v1alpha1.ReasonSucceeded)
	w.says(t, events.ConditionReady, true, v1alpha1.ReasonSucceeded)
	w.says(t, v1alpha1.MiniClusterRunning, false, v1alpha1.ReasonFinished)
	assert.False(t, w.hasCondition(v1alpha1.ConditionFailed))
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted, v1alpha1.ReasonRunning, v1alpha1.ReasonSucceeded}, w.told)
}

func TestFailure(t *testing.T) {
	tests := map[string]struct {
		happens func(w *world)
		reason  string
		code    *int32
		message string
	}{
		"the command fails": {func(w *world) { w.exit(0, 3) }, v1alpha1.ReasonLeaderFailed, ptr.To[int32](3),
			"the leader's pod demo-0-1 ended with exit code 3 (Error)"},
		"the leader runs out of memory": {func(w *world) {
			w.exit(0, exitKilled)
			w.pod(0).Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
		}, v1alpha1.ReasonLeaderFailed, ptr.To[int32](137), "the leader's pod demo-0-1 ended with exit code 137 (OOMKilled)"},
		"the leader is drained": {func(w *world) {
			w.exit(0, exitStopped)
			w.pod(0).Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		}, v1alpha1.ReasonLeaderLost, ptr.To[int32](143), "the leader's pod demo-0-1 was stopped from outside, with exit code 143"},
		"the leader is deleted": {func(w *world) { w.vanish(0) }, v1alpha1.ReasonLeaderLost, nil, "the leader's pod demo-0-1 was deleted"},
		"the leader is deleted and replaced": {func(w *world) { w.vanish(0); w.sync(); w.ready(0) }, v1alpha1.ReasonLeaderLost, nil,
			"the leader's pod demo-0-1 was deleted"},
		"the leader is deleted, and the one in its place stopped with the rest": {func(w *world) {
			w.vanish(0)
			w.sync()
			w.ready(0)
			w.pass()
			w.exit(0, exitStopped)
			w.pod(0).DeletionTimestamp = new(metav1.NewTime(w.now))
		}, v1alpha1.ReasonLeaderLost, nil, "the leader's pod demo-0-1 was deleted"},
		"the leader is stopped, and the one in its place as well": {func(w *world) {
			w.exit(0, exitStopped)
			w.pod(0).DeletionTimestamp = new(metav1.NewTime(w.now))
			w.sync()
			w.ready(0)
			w.pass()
			w.exit(0, exitKilled)
			w.pod(0).DeletionTimestamp = new(metav1.NewTime(w.now))
		}, v1alpha1.ReasonLeaderLost, ptr.To[int32](143), "the leader's pod demo-0-1 was stopped from outside, with exit code 143"},
		"the leader is deleted, and the one in its place fails by itself": {func(w *world) { w.vanish(0); w.sync(); w.ready(0); w.exit(0, 9) },
			v1alpha1.ReasonLeaderFailed, ptr.To[int32](9), "the leader's pod demo-0-3 ended with exit code 9 (Error)"},
		"the Job is deleted": {func(w *world) { w.job, w.pods = nil, nil }, v1alpha1.ReasonLeaderLost, nil, "the leader's pod demo-0-1 was deleted"},
		"the container says why": {func(w *world) {
			w.exit(0, 1)
			w.pod(0).Status.ContainerStatuses[0].State.Terminated.Message = "no such input"
		}, v1alpha1.ReasonLeaderFailed, ptr.To[int32](1), "the leader's pod demo-0-1 ended with exit code 1 (Error): no such input"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(makeCluster(2))
			w.settle()
			w.ready(0, 1)
			w.settle()
			tt.happens(w)
			w.settle()
			assert.Equal(t, v1alpha1.MiniClusterStateFailed, w.c.Status.State)
			w.says(t, v1alpha1.ConditionFailed, true, tt.reason)
			w.says(t, events.ConditionReady, false, tt.reason)
			w.says(t, events.ConditionStalled, true, tt.reason)
			assert.Equal(t, tt.code, w.c.Status.ExitCode)
			assert.Equal(t, tt.message, w.c.Status.LastFailure)
			assert.Zero(t, w.c.Status.Restarts, "backoffLimit is 0")
			assert.Equal(t, tt.reason, w.told[len(w.told)-1])
			assert.True(t, observe(w.c, w.view()).isStill(), "no worker is left behind")
		})
	}
}

// The scripts leave a word for the status where something had no effect.
func TestSuccessWithAWordOfTheLeader(t *testing.T) {
	w := newWorld(makeCluster(1))
	w.settle()
	w.ready(0)
	w.settle()
	w.fails(0, 0, "flux.scheduler.queuePolicy has no effect\nanother\n")
	w.settle()
	assert.Equal(t, "the leader ended with exit code 0: flux.scheduler.queuePolicy has no effect; another", w.message(v1alpha1.ConditionSucceeded))
	assert.Equal(t, w.message(v1alpha1.ConditionSucceeded), w.message(events.ConditionReady))
}

// The Job controller counts in time.Duration, which holds 292 years.
func TestADeadlineInCenturiesIsOneTheJobControllerCanCount(t *testing.T) {
	w := newWorld(makeCluster(2, func(c *v1alpha1.MiniCluster) { c.Spec.DeadlineSeconds = ptr.To[int64](9_999_999_999) }))
	w.settle()
	assert.Equal(t, int64(lifecycle.MaxSeconds), *w.job.Spec.ActiveDeadlineSeconds)
}

// A pod is unready, and its container has ended, before its phase says so; a Job ends later still.
func TestAStateNeverGoesBackAtTheEnd(t *testing.T) {
	for code, state := range map[int32]v1alpha1.MiniClusterState{0: v1alpha1.MiniClusterStateSucceeded, 3: v1alpha1.MiniClusterStateFailed} {
		w := newWorld(makeCluster(2))
		w.settle()
		w.ready(0, 1)
		w.settle()
		var states []v1alpha1.MiniClusterState
		pass := func() {
			w.pass()
			if n := len(states); n == 0 || states[n-1] != w.c.Status.State {
				states = append(states, w.c.Status.State)
			}
		}
		pass()
		w.exit(0, code)
		w.pod(0).Status.Phase = corev1.PodRunning
		w.pod(1).Status.Conditions = nil
		pass()
		w.says(t, v1alpha1.MiniClusterRunning, true, v1alpha1.ReasonRunning)
		w.exit(0, code)
		pass()
		w.sync()
		pass()
		w.settle()
		pass()
		assert.Equal(t, []v1alpha1.MiniClusterState{v1alpha1.MiniClusterStateRunning, state}, states)
	}
}

func TestASidecarThatEndsChangesNoState(t *testing.T) {
	w := newWorld(makeCluster(1))
	w.settle()
	w.ready(0)
	w.settle()
	w.pod(0).Status.Conditions[0].Status = corev1.ConditionFalse // of the pod, with its sidecars
	w.pod(0).Status.ContainerStatuses = []corev1.ContainerStatus{{Name: workerName(w.c), Ready: true}}
	w.settle()
	assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)
	assert.Equal(t, int32(1), w.c.Status.ReadyPods)
}

// The pods of the next version of this program may be rendered otherwise. What runs goes on as it was started.
func TestAnUpgradeRestartsNothing(t *testing.T) {
	w := newWorld(makeCluster(2))
	w.settle()
	w.ready(0, 1)
	w.settle()
	w.job.Spec.Template.Spec.Containers[0].Command = []string{"as the version before rendered it"}
	w.job.Annotations[annotationTemplate] = "of the version before"
	plan := w.pass()
	assert.Empty(t, plan.Delete)
	for _, child := range plan.Children {
		assert.NotEqual(t, "*v1.Job", fmt.Sprintf("%T", child.Object()))
	}
	for _, e := range plan.Edits {
		assert.Equal(t, e.Before.(*batchv1.Job).Spec, e.After.(*batchv1.Job).Spec)
	}
	assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)
}

func TestDeadline(t *testing.T) {
	w := newWorld(makeCluster(2, backoffLimit(9), func(c *v1alpha1.MiniCluster) { c.Spec.DeadlineSeconds = ptr.To[int64](60) }))
	w.settle()
	w.ready(0, 1)
	w.settle()
	w.now = noon.Add(40 * time.Second)
	w.exit(0, 1)
	w.settle()
	assert.Equal(t, int64(20), *w.job.Spec.ActiveDeadlineSeconds, "what is left of it after a restart")
	w.c.Spec.DeadlineSeconds, w.c.Generation = ptr.To[int64](80), 2
	w.settle()
	assert.Equal(t, int64(40), *w.job.Spec.ActiveDeadlineSeconds)
	w.now = noon.Add(80 * time.Second)
	w.settle()
	w.says(t, v1alpha1.ConditionFailed, true, v1alpha1.ReasonDeadlineExceeded)
	assert.Nil(t, w.c.Status.ExitCode)
	assert.Equal(t, int32(1), w.c.Status.Restarts, "no other start is of use")
}

func TestDeadlineThatCameWithoutAJob(t *testing.T) {
	w := newWorld(makeCluster(2, backoffLimit(9), func(c *v1alpha1.MiniCluster) { c.Spec.DeadlineSeconds = ptr.To[int64](60) }))
	w.pass()
	w.now = noon.Add(time.Hour) // the controller was down
	w.pass()
	w.says(t, v1alpha1.ConditionFailed, true, v1alpha1.ReasonDeadlineExceeded)
	assert.Nil(t, w.job)
}

func TestAfterwards(t *testing.T) {
	ended := func(change func(*v1alpha1.MiniCluster)) *world {
		w := newWorld(makeCluster(1, change))
		w.settle()
		w.exit(0, 0)
		w.settle()
		require.NotNil(t, w.c.Status.CompletionTime)
		return w
	}
	t.Run("nothing runs again", func(t *testing.T) {
		w := ended(func(*v1alpha1.MiniCluster) {})
		w.job, w.pods = nil, nil
		w.settle()
		assert.Nil(t, w.job)
		w.c.Spec.Size, w.c.Generation = 2, 2
		w.settle()
		assert.Nil(t, w.job)
		assert.Equal(t, v1alpha1.ReasonChangeIgnored, w.told[len(w.told)-1])
		assert.Equal(t, int64(2), w.c.Status.ObservedGeneration)
	})
	t.Run("TTL", func(t *testing.T) {
		w := ended(func(c *v1alpha1.MiniCluster) { c.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) })
		assert.False(t, w.gone)
		assert.Equal(t, 61*time.Second, w.pass().RequeueAfter)
		w.now = noon.Add(61 * time.Second)
		w.pass()
		assert.True(t, w.gone)
	})
	t.Run("cleanup", func(t *testing.T) {
		w := ended(func(c *v1alpha1.MiniCluster) { c.Spec.Cleanup = true })
		plan := w.pass()
		assert.Nil(t, w.job)
		assert.Empty(t, plan.Children)
		assert.Len(t, plan.Prune, 4)
	})
	t.Run("no cleanup", func(t *testing.T) {
		w := ended(func(*v1alpha1.MiniCluster) {})
		plan := w.pass()
		assert.NotNil(t, w.job)
		assert.Len(t, plan.Prune, 1, "the services only")
	})
}

// While something stands in the way of the services, or of anything else, the builder reports that in Ready, and takes it
// back later. What the end means must be said again then.
func TestTheEndIsSaidAgainAfterAnError(t *testing.T) {
	tests := map[string]struct {
		code    int32
		ready   bool
		reason  string
		stalled bool
	}{
		"success": {0, true, v1alpha1.ReasonSucceeded, false},
		"failure": {3, false, v1alpha1.ReasonLeaderFailed, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(makeCluster(1, plain))
			w.settle()
			w.exit(0, tt.code)
			w.settle()
			for _, reported := range []bool{true, false} {
				apimeta.RemoveStatusCondition(&w.c.Status.Conditions, events.ConditionReady)
				apimeta.RemoveStatusCondition(&w.c.Status.Conditions, events.ConditionStalled)
				if reported {
					apimeta.SetStatusCondition(&w.c.Status.Conditions, metav1.Condition{
						Type: events.ConditionReady, Status: metav1.ConditionFalse, Reason: "NotOwned", Message: "in the way",
					})
				}
				w.settle()
				w.says(t, events.ConditionReady, tt.ready, tt.reason)
				assert.Equal(t, tt.stalled, apimeta.IsStatusConditionTrue(w.c.Status.Conditions, events.ConditionStalled))
			}
		})
	}
}
