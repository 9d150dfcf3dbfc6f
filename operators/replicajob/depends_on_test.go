package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestALauncherAfterItsWorkers(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Launcher", 1, after("Worker", "Ready")), replicas("Worker", 2)))
	c.settle()
	assert.Equal(t, podNames("Worker", 0, 1), c.names())
	assert.Equal(t, v1alpha1.ReplicaStatus{Pending: 1}, c.status("Launcher"))
	c.run("demo-worker-0")
	c.change("demo-worker-1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
	c.settle()
	assert.NotContains(t, c.names(), "demo-launcher-0", "running is not ready")
	c.run("demo-worker-1")
	assert.Contains(t, c.names(), "demo-launcher-0")

	suspend := func(is bool) {
		c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = is })
		c.settle()
	}
	suspend(true)
	suspend(false)
	assert.Equal(t, podNames("Worker", 0, 1), c.names(), "the order is kept in a resume")
	c.run()
	c.run()
	c.ends(0, "demo-launcher-0")
	c.settle()
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, c.job.Status.State)
}

func TestTypesInTurn(t *testing.T) {
	c := newCluster(t, makeJob(
		replicas("Prepare", 2), replicas("Train", 1, after("Prepare", "Complete")), replicas("Report", 1, after("Train", "Complete")),
		rules(rule{Action: "RestartJob"})))
	c.settle()
	c.run()
	assert.Equal(t, podNames("Prepare", 0, 1), c.names(), "ready is not complete")
	c.ends(0, podNames("Prepare", 0, 1)...)
	c.settle()
	assert.Contains(t, c.names(), "demo-train-0")
	delete(c.pods, "demo-prepare-0")
	c.run()
	c.ends(1, "demo-train-0")
	c.settle()
	assert.Equal(t, podNames("Prepare", 0, 1), c.names(), "the order is kept in a restart")
	for _, name := range []string{"demo-prepare-0", "demo-prepare-1", "demo-train-0", "demo-report-0"} {
		c.run()
		c.ends(0, name)
		c.settle()
	}
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, c.job.Status.State)
}

func TestCycles(t *testing.T) {
	for want, j := range map[string]*v1alpha1.ReplicaJob{
		"":                 makeJob(replicas("A", 1, after("B", "Ready"), after("C", "Ready")), replicas("B", 1, after("C", "Ready")), replicas("C", 1)),
		"A -> B -> A":      makeJob(replicas("A", 1, after("B", "Ready")), replicas("B", 1, after("A", "Ready"))),
		"B -> C -> D -> B": makeJob(replicas("A", 1, after("B", "Ready")), replicas("B", 1, after("C", "Ready")), replicas("C", 1, after("D", "Ready")), replicas("D", 1, after("B", "Ready"))),
	} {
		c := newCluster(t, j)
		c.settle()
		if want == "" {
			assert.Len(t, c.pods, 1)
			continue
		}
		assert.Empty(t, c.pods)
		assert.Contains(t, c.condition("Stalled").Message, want)
		assert.Contains(t, c.condition("Stalled").Message, "the dependencies form a cycle")
	}
}
