package minicluster

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

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
			assert.True(t, (&pass{c: w.c}).observe(w.view()).isStill(), "no worker is left behind")
		})
	}
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
