package replicajob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

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
