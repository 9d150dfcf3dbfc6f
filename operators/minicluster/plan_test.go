package minicluster

import (
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
	"github.com/armature-dev/armature/builder"
)

// says checks a condition.
func (w *world) says(t *testing.T, kind string, value bool, reason string) {
	t.Helper()
	c := apimeta.FindStatusCondition(w.c.Status.Conditions, kind)
	require.NotNil(t, c, kind)
	want := metav1.ConditionFalse
	if value {
		want = metav1.ConditionTrue
	}
	assert.Equal(t, want, c.Status, "%s: %s", kind, c.Message)
	assert.Equal(t, reason, c.Reason, kind)
	assert.Equal(t, w.c.Generation, c.ObservedGeneration, kind)
}

func (w *world) hasCondition(kind string) bool {
	return apimeta.FindStatusCondition(w.c.Status.Conditions, kind) != nil
}

func TestTheJobComesWhenAllElseIsThere(t *testing.T) {
	w := newWorld(makeCluster(3))
	w.pass()
	assert.Nil(t, w.job)
	assert.Len(t, w.made, 4, "two ConfigMaps, a Secret, a Service")
	w.says(t, v1alpha1.MiniClusterAdmitted, true, v1alpha1.ReasonAdmitted)
	assert.Equal(t, metav1.NewTime(noon), *w.c.Status.StartTime)
	w.pass()
	require.NotNil(t, w.job)
	assert.Equal(t, int32(3), *w.job.Spec.Completions)
	assert.Equal(t, v1alpha1.MiniClusterStateStarting, w.c.Status.State)
	w.says(t, v1alpha1.MiniClusterRunning, false, v1alpha1.ReasonStarting)
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted}, w.told)
}

func TestTheCertificateIsMadeOnce(t *testing.T) {
	made := 0
	counting := Planner{NewCertificate: func(name string) []byte { made++; return NewCertificate(name) }}
	w := newWorld(makeCluster(1))
	plan := counting.Plan(w.c, w.view())
	for _, child := range plan.Children {
		w.take(child.Object())
	}
	first := w.made
	for range 3 {
		for _, child := range counting.Plan(w.c, w.view()).Children {
			w.take(child.Object())
		}
	}
	assert.Equal(t, 1, made)
	assert.Equal(t, first, w.made)
}

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
	w.settle()
	assert.Equal(t, v1alpha1.MiniClusterStateSucceeded, w.c.Status.State)
	assert.Equal(t, ptr.To[int32](0), w.c.Status.ExitCode)
	assert.Equal(t, metav1.NewTime(w.now), *w.c.Status.CompletionTime)
	w.says(t, v1alpha1.ConditionSucceeded, true, v1alpha1.ReasonSucceeded)
	w.says(t, builder.ConditionReady, true, v1alpha1.ReasonSucceeded)
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
			w.pod(0).DeletionTimestamp = ptr.To(metav1.NewTime(w.now))
		}, v1alpha1.ReasonLeaderLost, nil, "the leader's pod demo-0-1 was deleted"},
		"the leader is stopped, and the one in its place as well": {func(w *world) {
			w.exit(0, exitStopped)
			w.pod(0).DeletionTimestamp = ptr.To(metav1.NewTime(w.now))
			w.sync()
			w.ready(0)
			w.pass()
			w.exit(0, exitKilled)
			w.pod(0).DeletionTimestamp = ptr.To(metav1.NewTime(w.now))
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
			w.says(t, builder.ConditionReady, false, tt.reason)
			w.says(t, builder.ConditionStalled, true, tt.reason)
			assert.Equal(t, tt.code, w.c.Status.ExitCode)
			assert.Equal(t, tt.message, w.c.Status.LastFailure)
			assert.Zero(t, w.c.Status.Restarts, "backoffLimit is 0")
			assert.Equal(t, tt.reason, w.told[len(w.told)-1])
			assert.True(t, look(w.c, w.view()).isStill(), "no worker is left behind")
		})
	}
}

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
	w.says(t, builder.ConditionStalled, true, v1alpha1.ReasonInvalidSpec)
	w.c.Spec.Size, w.c.Generation = 3, 5
	w.settle()
	assert.False(t, w.hasCondition(builder.ConditionStalled))
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

	w.job.Spec.Suspend = ptr.To(false) // by Kueue
	w.settle()
	w.ready(0, 1)
	w.settle()
	w.says(t, v1alpha1.MiniClusterAdmitted, true, v1alpha1.ReasonAdmitted)
	assert.Equal(t, v1alpha1.MiniClusterStateRunning, w.c.Status.State)

	w.job.Spec.Suspend = ptr.To(true) // by Kueue, which preempts it
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
		assert.Equal(t, time.Minute, w.pass().RequeueAfter)
		w.now = noon.Add(time.Minute)
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

func TestNotOurs(t *testing.T) {
	w := newWorld(makeCluster(1, func(c *v1alpha1.MiniCluster) { c.Spec.ManagedBy = ptr.To("example.com/other") }))
	assert.Equal(t, builder.Plan[*v1alpha1.MiniCluster]{}, w.pass())
}

func TestTerminating(t *testing.T) {
	w := newWorld(makeCluster(1))
	w.settle()
	w.c.DeletionTimestamp = ptr.To(metav1.NewTime(noon))
	plan := w.pass()
	assert.Empty(t, plan.Children)
	assert.Empty(t, plan.Delete)
	assert.Equal(t, v1alpha1.MiniClusterStateTerminating, w.c.Status.State)
}

func TestAPassOverAnUnchangedClusterSaysNothing(t *testing.T) {
	w := newWorld(makeCluster(2))
	w.settle()
	w.ready(0, 1)
	w.settle()
	plan := w.pass()
	assert.Nil(t, plan.Status)
	assert.Empty(t, plan.Events)
	assert.Empty(t, plan.Delete)
	assert.Zero(t, plan.RequeueAfter)
	for _, e := range plan.Edits {
		assert.Equal(t, e.Before, e.After)
	}
}

func TestCountsMayWait(t *testing.T) {
	w := newWorld(makeCluster(3))
	w.settle()
	w.ready(1)
	assert.Equal(t, coalesce, w.pass().StatusCanWait)
	w.ready(0)
	assert.Zero(t, w.pass().StatusCanWait, "it runs now")
}
