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
	"github.com/armature-dev/armature/events"
)

// fails ends the pod of a rank as its script does: with an exit code, and a message.
func (w *world) fails(rank int, code int32, message string) {
	w.exit(rank, code)
	end := w.pod(rank).Status.ContainerStatuses[0].State.Terminated
	end.Message, end.FinishedAt = message, metav1.NewTime(w.now)
}

// stops deletes the pod of a rank, which has a grace period of 30 seconds.
func (w *world) stops(rank int) {
	w.pod(rank).DeletionTimestamp = new(metav1.NewTime(w.now.Add(30 * time.Second)))
	w.pod(rank).DeletionGracePeriodSeconds = ptr.To[int64](30)
}

func (w *world) message(kind string) string {
	if c := apimeta.FindStatusCondition(w.c.Status.Conditions, kind); c != nil {
		return c.Message
	}
	return ""
}

const strictPre = "commands.workerPre ended rank 1 with exit code 3 (logging.strict is set)"

func TestAWorkerThatNeverComesUp(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.MiniCluster){
		"never restarted": func(*v1alpha1.MiniCluster) {},
		"restarted":       backoffLimit(3),
		"of a quorum":     func(c *v1alpha1.MiniCluster) { c.Spec.MinSize, c.Spec.Size = 2, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(makeCluster(2, change))
			w.settle()
			for i := range workerTries - 1 {
				w.now = w.now.Add(time.Minute)
				w.fails(1, exitWorker, strictPre)
				pod := w.pod(1).Name
				w.settle()
				require.NotNil(t, w.c.Status.FailedWorker)
				assert.Equal(t, v1alpha1.MiniClusterFailedWorker{
					Rank: 1, Pod: pod, ExitCode: ptr.To[int32](exitWorker), Message: "ended with exit code 75 (Error): " + strictPre,
					Count: int32(i + 1), Time: metav1.NewTime(w.now),
				}, *w.c.Status.FailedWorker)
				assert.Nil(t, w.pass().Status)
			}
			assert.Equal(t, v1alpha1.MiniClusterStateStarting, w.c.Status.State)
			told := "rank 1 failed 5 times, the last time at 2026-11-21T12:05:00Z: pod demo-1-6 ended with exit code 75 (Error): " + strictPre
			assert.Equal(t, "the leader's broker isn't up, or waits for its quorum of 2; "+told, w.message(v1alpha1.MiniClusterBrokerReady))
			assert.Equal(t, "0 of 2 pods ready; "+told, w.message(events.ConditionReady))
			assert.Equal(t, []string{v1alpha1.ReasonAdmitted, v1alpha1.ReasonWorkerFailed}, w.told)

			w.now = w.now.Add(time.Minute)
			w.fails(1, exitWorker, strictPre)
			w.settle()
			assert.Equal(t, v1alpha1.MiniClusterStateFailed, w.c.Status.State)
			w.says(t, v1alpha1.ConditionFailed, true, v1alpha1.ReasonWorkerFailed)
			w.says(t, events.ConditionStalled, true, v1alpha1.ReasonWorkerFailed)
			assert.Contains(t, w.c.Status.LastFailure, "there will be no quorum of 2: rank 1 failed 6 times")
			assert.Contains(t, w.c.Status.LastFailure, strictPre)
			assert.Nil(t, w.c.Status.ExitCode)
			assert.Zero(t, w.c.Status.Restarts, "another start is of no use")
			assert.True(t, (&pass{c: w.c}).observe(w.view()).isStill(), "the leader doesn't wait for ever")
		})
	}
}

func TestAWorkerThatFailsMayFailForEver(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*v1alpha1.MiniCluster)
		code   int32
		begun  bool
	}{
		"once the work has begun":        {func(*v1alpha1.MiniCluster) {}, exitWorker, true},
		"if the quorum is there without": {func(c *v1alpha1.MiniCluster) { c.Spec.MinSize = 1 }, exitWorker, false},
		"if it is stopped":               {func(*v1alpha1.MiniCluster) {}, exitStopped, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(makeCluster(2, tt.change))
			w.settle()
			if tt.begun {
				w.ready(0)
				w.settle()
			}
			for range 2 * workerTries {
				w.now = w.now.Add(time.Minute)
				w.fails(1, tt.code, "")
				w.settle()
			}
			assert.Nil(t, w.c.Status.CompletionTime)
			assert.Equal(t, int32(2*workerTries), w.c.Status.FailedWorker.Count)
		})
	}
}

func TestALeaderThatFailsAfterALostWorker(t *testing.T) {
	for name, tt := range map[string]struct {
		happens func(w *world)
		told    string
	}{
		"deleted": {func(w *world) { w.stops(2); w.pass() }, "; before that, rank 2 was lost at 2026-11-21T12:01:00Z: pod demo-2-3 was deleted"},
		"deleted, and seen with the leader's end": {func(w *world) { w.stops(2) },
			"; before that, rank 2 was lost at 2026-11-21T12:01:00Z: pod demo-2-3 was deleted"},
		"deleted, and gone by then": {func(w *world) { w.stops(2); w.pass(); w.vanish(2) },
			"; before that, rank 2 was lost at 2026-11-21T12:01:00Z: pod demo-2-3 was deleted"},
		"with its node": {func(w *world) {
			w.pod(2).Status.Phase = corev1.PodFailed
			w.pod(2).Status.Conditions = []corev1.PodCondition{{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager", Message: "node is gone", LastTransitionTime: metav1.NewTime(w.now)}}
		}, "; before that, rank 2 was lost at 2026-11-21T12:01:00Z: pod demo-2-3 was taken away (DisruptionTarget, DeletionByTaintManager): node is gone"},
		"out of memory": {func(w *world) {
			w.fails(2, exitKilled, "")
			w.pod(2).Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
			w.pass()
		}, "; before that, rank 2 was lost at 2026-11-21T12:01:00Z: pod demo-2-3 ended with exit code 137 (OOMKilled)"},
		"stopped because of the leader": {func(w *world) {
			w.now = w.now.Add(7 * time.Second)
			w.stops(2)
			w.stops(1)
			w.now = w.now.Add(-7 * time.Second)
		}, ""},
		"long ago": {func(w *world) { w.stops(2); w.pass(); w.vanish(2); w.sync(); w.now = w.now.Add(time.Hour) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(makeCluster(3))
			w.settle()
			w.ready(0, 1, 2)
			w.settle()
			w.now = w.now.Add(time.Minute)
			tt.happens(w)
			w.now = w.now.Add(7 * time.Second)
			w.fails(0, 1, "")
			w.pass()
			w.end(batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy)
			w.settle()
			w.says(t, v1alpha1.ConditionFailed, true, v1alpha1.ReasonLeaderFailed)
			assert.Equal(t, "the leader's pod demo-0-1 ended with exit code 1 (Error)"+tt.told, w.c.Status.LastFailure)
		})
	}
}

func TestALostWorkerIsOnRecord(t *testing.T) {
	w := newWorld(makeCluster(3, backoffLimit(1)))
	w.settle()
	w.ready(0, 1, 2)
	w.settle()
	w.now = w.now.Add(time.Minute)
	w.stops(1)
	plan := w.pass()
	assert.Zero(t, plan.StatusCanWait, "the first is written at once")
	lost := *w.c.Status.FailedWorker
	assert.Equal(t, v1alpha1.MiniClusterFailedWorker{Rank: 1, Pod: "demo-1-2", Message: "was deleted", Count: 1, Time: metav1.NewTime(w.now)}, lost)
	w.vanish(1)
	w.settle()
	assert.Equal(t, lost, *w.c.Status.FailedWorker, "it stays on record when it is gone")
	w.now = w.now.Add(time.Minute)
	w.stops(1)
	w.settle()
	assert.Equal(t, int32(2), w.c.Status.FailedWorker.Count)
	assert.Equal(t, metav1.NewTime(w.now), w.c.Status.FailedWorker.Time)
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted, v1alpha1.ReasonRunning, v1alpha1.ReasonWorkerFailed}, w.told, "it is told once")

	w.c.Spec.Suspend, w.c.Generation = true, 2
	w.settle()
	assert.Nil(t, w.c.Status.FailedWorker, "that is of the start before")
	w.c.Spec.Suspend, w.c.Generation = false, 3
	w.settle()
	w.ready(0, 1, 2)
	w.fails(1, exitKilled, "")
	w.settle()
	w.fails(0, 3, "")
	w.settle()
	assert.Equal(t, int32(1), w.c.Status.Restarts)
	assert.Nil(t, w.c.Status.FailedWorker)
	assert.Contains(t, w.c.Status.LastFailure, "before that, rank 1 was lost")
}

// Pods that are stopped since there are to be fewer, or since the cluster is suspended, aren't lost.
func TestWhatIsStoppedIsNotLost(t *testing.T) {
	w := newWorld(makeCluster(3))
	w.settle()
	w.ready(0, 1, 2)
	w.settle()
	w.c.Spec.Size, w.c.Generation = 2, 2
	w.stops(2)
	w.settle()
	assert.Nil(t, w.c.Status.FailedWorker)
	w.c.Spec.Suspend, w.c.Generation = true, 3
	w.stops(1)
	w.settle()
	assert.Nil(t, w.c.Status.FailedWorker)
}
