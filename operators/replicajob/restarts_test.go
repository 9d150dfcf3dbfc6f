package replicajob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestARetryableFailureIsCountedThenDeletedThenMadeAgain(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 2, restart("ExitCode"))))
	c.settle()
	c.run()
	first := c.pods["demo-worker-1"].UID
	c.ends(130, "demo-worker-1")

	c.pass()
	assert.Empty(t, c.plan.Delete, "first it is counted")
	assert.Equal(t, map[string]int32{"1": 1}, c.status("Worker").ReplicaRestarts)
	assert.EqualValues(t, 1, c.status("Worker").Restarts)
	assert.Equal(t, "ReplicaRestarting", c.is("Restarting"))
	assert.Empty(t, c.is("Running"), "Running and Restarting exclude each other")
	assert.Equal(t, v1alpha1.ReplicaJobRestarting, c.job.Status.State)
	assert.Equal(t, "Worker 1 failed with exit code 130 (Error)", c.condition("Restarting").Message)
	assert.Equal(t, time.Millisecond, c.plan.RequeueAfter)

	c.pass()
	assert.Equal(t, podNames("Worker", 0), c.names(), "then it is deleted")
	c.pass()
	pod := c.pods["demo-worker-1"]
	assert.NotEqual(t, first, pod.UID, "then it is made again")
	assert.Equal(t, 1, label(pod, LabelRestarts))
	assert.Equal(t, 0, label(pod, LabelRestartAttempt), "the job was not restarted")
	assert.Equal(t, v1alpha1.ReplicaJobRestarting, c.job.Status.State)
	c.run()
	assert.Equal(t, v1alpha1.ReplicaJobRunning, c.job.Status.State)
	assert.Equal(t, "Restarted", c.condition("Restarting").Reason)
	assert.Equal(t, []string{"Started", "Running", "ReplicaRestarting", "Running"}, c.reasons())
	assert.Equal(t, "demo-worker-1", c.told[2].Related.(*corev1.Pod).Name)
}

func TestRestartPolicies(t *testing.T) {
	evicted := func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" }
	exits := func(code int32) func(*corev1.Pod) { return func(p *corev1.Pod) { end(p, code, p.CreationTimestamp) } }
	tests := map[string]struct {
		policy v1alpha1.ReplicaRestartPolicy
		change func(*corev1.Pod)
		again  bool
	}{
		"Never, error":           {"Never", exits(1), false},
		"Never, signal":          {"Never", exits(137), false},
		"Never, evicted":         {"Never", evicted, false},
		"ExitCode 1":             {"ExitCode", exits(1), false},
		"ExitCode 127":           {"ExitCode", exits(127), false},
		"ExitCode 128":           {"ExitCode", exits(128), true},
		"ExitCode 255":           {"ExitCode", exits(255), true},
		"ExitCode, evicted":      {"ExitCode", evicted, true},
		"OnFailure, evicted":     {"OnFailure", evicted, true},
		"OnFailure, gave up":     {"OnFailure", exits(1), true},
		"Always, evicted":        {"Always", evicted, true},
		"the default":            {"", exits(200), false},
		"ExitCode of a sidecar":  {"ExitCode", func(p *corev1.Pod) { exits(0)(p); p.Status.Phase = corev1.PodFailed; sidecar(p, 3) }, false},
		"ExitCode, init crashed": {"ExitCode", func(p *corev1.Pod) { evicted(p); p.Status.InitContainerStatuses = terminated("init", 139) }, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, makeJob(replicas("Worker", 1, restart(tt.policy))))
			c.settle()
			c.run()
			uid := c.pods["demo-worker-0"].UID
			c.change("demo-worker-0", tt.change)
			c.settle()
			assert.Equal(t, tt.again, c.pods["demo-worker-0"].UID != uid)
			assert.Equal(t, !tt.again, c.is("Failed") == "ReplicaFailed")
		})
	}
}

func terminated(name string, code int32) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}}
}

func sidecar(p *corev1.Pod, code int32) {
	p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, terminated("sidecar", code)...)
}

func TestTheContainerThatCounts(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1, restart("ExitCode"), func(s *v1alpha1.ReplicaSpec) {
		s.Template.Spec.Containers = append(s.Template.Spec.Containers, corev1.Container{Name: "torch"})
	})))
	c.kind.Container = "torch"
	c.settle()
	c.run()
	c.change("demo-worker-0", func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses = append(terminated("main", 137), terminated("torch", 1)...)
	})
	c.settle()
	assert.Contains(t, c.condition("Failed").Message, "Worker 0 failed with exit code 1")
}

func TestBackoffLimit(t *testing.T) {
	for _, limit := range []int32{0, 1, 3} {
		c := newCluster(t, makeJob(replicas("Worker", 2, restart("ExitCode")), backoffLimit(limit)))
		c.settle()
		failures := int32(0)
		for c.is("Failed") == "" {
			c.run()
			c.ends(137, podNames("Worker", int(failures)%2)...)
			failures++
			require.LessOrEqual(t, failures, limit+1)
			c.at(c.seconds + 100)
		}
		assert.Equal(t, limit+1, failures)
		assert.Equal(t, "BackoffLimitExceeded", c.is("Failed"))
		assert.Equal(t, limit, c.status("Worker").Restarts)
		assert.EqualValues(t, 2+limit, c.creates)
	}
}

func TestBackoffLimitCountsAllFailuresOfAPass(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 3, restart("ExitCode")), replicas("PS", 1, restart("OnFailure")), backoffLimit(2)))
	c.settle()
	c.run()
	c.ends(137, podNames("Worker", 0, 1, 2)...)
	c.settle()
	assert.Equal(t, "BackoffLimitExceeded", c.is("Failed"))
	assert.Equal(t, "Worker 0 failed with exit code 137 (Error); replicas were restarted 0 times; runPolicy.backoffLimit is 2", c.condition("Failed").Message)
	assert.Equal(t, 4, c.creates)
}

func TestRestartsInPlaceCount(t *testing.T) {
	restartedInPlace := func(n int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: n}}
		}
	}
	c := newCluster(t, makeJob(replicas("Worker", 2, restart("OnFailure")), backoffLimit(5)))
	c.settle()
	c.run()
	c.change("demo-worker-0", restartedInPlace(2))
	c.settle()
	assert.EqualValues(t, 2, c.status("Worker").Restarts)
	assert.Equal(t, v1alpha1.ReplicaJobRunning, c.job.Status.State, "nothing was made again")
	delete(c.pods, "demo-worker-0") // its count goes with it
	c.settle()
	c.run()
	assert.EqualValues(t, 2, c.status("Worker").Restarts, "and is remembered")
	assert.Equal(t, 2, label(c.pods["demo-worker-0"], LabelRestarts))
	c.change("demo-worker-0", restartedInPlace(1))
	c.settle()
	assert.EqualValues(t, 3, c.status("Worker").Restarts)
	c.change("demo-worker-0", func(p *corev1.Pod) {
		p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted"
	})
	c.at(100)
	assert.EqualValues(t, 4, c.status("Worker").Restarts)
	assert.Equal(t, 4, label(c.pods["demo-worker-0"], LabelRestarts))
	c.run()
	c.change("demo-worker-1", restartedInPlace(2))
	c.settle()
	assert.Equal(t, "BackoffLimitExceeded", c.is("Failed"))
	assert.Equal(t, "replicas were restarted 6 times; runPolicy.backoffLimit is 5", c.condition("Failed").Message)

	zero := newCluster(t, makeJob(replicas("Worker", 1, restart("OnFailure")), backoffLimit(0)))
	zero.settle()
	zero.run()
	zero.change("demo-worker-0", restartedInPlace(1))
	zero.settle()
	assert.Equal(t, "BackoffLimitExceeded", zero.is("Failed"))
}

func TestRestartsAreDelayed(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1, restart("ExitCode"))))
	c.settle()
	seconds := 0
	for _, delay := range []int{0, 1, 2, 4, 8, 16, 32, 60, 60} {
		c.run()
		uid := c.pods["demo-worker-0"].UID
		c.ends(137, "demo-worker-0")
		c.settle()
		if delay > 0 {
			require.Equal(t, uid, c.pods["demo-worker-0"].UID, "%d", delay)
			require.Equal(t, time.Duration(delay)*time.Second, c.plan.RequeueAfter)
			require.EqualValues(t, 1, c.status("Worker").Failed)
			c.at(seconds + delay - 1)
			require.Equal(t, uid, c.pods["demo-worker-0"].UID, "%d", delay)
		}
		seconds += delay
		c.at(seconds)
		require.NotEqual(t, uid, c.pods["demo-worker-0"].UID, "%d", delay)
	}
	c.run()
	c.ends(137, "demo-worker-0")
	c.at(seconds + 3600)
	assert.Equal(t, corev1.PodPending, c.pods["demo-worker-0"].Status.Phase, "the time may pass unseen")
}

func TestPodsThatNeverRunAreDelayedToo(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1, restart("ExitCode"))))
	c.settle()
	refused := func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "UnexpectedAdmissionError" }
	c.change("demo-worker-0", refused)
	c.settle()
	uid := c.pods["demo-worker-0"].UID
	c.change("demo-worker-0", refused)
	c.settle()
	assert.Equal(t, uid, c.pods["demo-worker-0"].UID)
	assert.Equal(t, time.Second, c.plan.RequeueAfter)
	c.at(1)
	assert.NotEqual(t, uid, c.pods["demo-worker-0"].UID)
}

func TestAnAdoptedPodKeepsItsCount(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1, restart("ExitCode"))))
	c.settle()
	c.change("demo-worker-0", func(p *corev1.Pod) { p.Labels[LabelRestarts], p.Labels[LabelRestartAttempt] = "3", "2" })
	c.run()
	assert.EqualValues(t, 3, c.status("Worker").Restarts)
	assert.Equal(t, podNames("Worker", 0), c.names(), "an attempt ahead of the record is no old one")
}

func TestWorkerThatLosesItsNode(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1, restart("Never"))))
	c.lingers = true
	c.settle()
	c.run()
	c.change("demo-worker-0", func(p *corev1.Pod) { // as pod garbage collection does it
		now := c.now()
		p.DeletionTimestamp, p.Status.Phase = &now, corev1.PodFailed
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: "True", Reason: "DeletionByPodGC"}}
	})
	c.settle()
	c.gone()
	c.settle()
	assert.Empty(t, c.is("Failed"))
	assert.Len(t, c.pods, 1)
	assert.Equal(t, ptr.To[int32](1), c.job.Spec.ReplicaSpecs["Worker"].Replicas)
}
