//go:build e2e

package e2e

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

var nodes = []string{"minikube", "node-2", "node-3"}

func shell(command string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", command}},
	}}}
}

func TestExampleDaemonJobLeavesOutItsNode(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("daemonjob/example.yaml")
	s.await("Succeeded", "daemonjob/daemonjob-example")
	s.requireOnce(2)
	assert.Equal(t, []string{"minikube", "node-2"}, s.nodesOfPods())
}

// The manifest that DaemonJobs come from names nodes that there aren't.
func TestSeedOfDaemonJobs(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.applyWith("daemonjob/testdata/seed.yaml", "sleep 100s", "sleep 2s")
	s.await("Succeeded", "daemonjob/daemonjob-example")
	s.requireOnce(3)
	assert.Equal(t, nodes, s.nodesOfPods())
}

func TestDaemonJobRunsOnceOnEachOfThreeNodes(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	require.NoError(t, cluster.Create(t.Context(), &v1alpha1.DaemonJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "all"},
		Spec:       v1alpha1.DaemonJobSpec{Template: shell("hostname")},
	}))
	s.await("Succeeded", "daemonjob/all")
	s.requireOnce(3)
	assert.Equal(t, nodes, s.nodesOfPods())
}

func (s *space) nodesOfPods() []string {
	var found []string
	for _, pod := range s.pods() {
		found = append(found, pod.Spec.NodeName)
	}
	slices.Sort(found)
	return found
}

// A quarter of three nodes is one at a time, and the node with the label is left alone.
func TestExampleDaemonJobRolls(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("daemonjob/rolling.yaml")
	s.await("Succeeded", "daemonjob/daemonjob-example-rolling")
	s.requireOnce(3)
	assert.Equal(t, nodes, s.nodesOfPods())
	assert.Equal(t, 1, s.mostPods(), "at once")
	assert.Equal(t, "upgrading node-3\n", s.logs("job/daemonjob-example-rolling-node-3"))
}

// It is Ready once all nodes are prepared, and goes on to exist for those that join.
func TestExampleDaemonJobForNewNodes(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("daemonjob/newnodes.yaml")
	s.await("Ready", "daemonjob/daemonjob-example-newnodes")
	s.is("daemonjob/daemonjob-example-newnodes", "{.status.state} {.status.succeeded}", "Running 3")
	s.requireOnce(3)
	assert.Equal(t, nodes, s.nodesOfPods())
}

// What is to be deleted ten minutes after its end is deleted when they are made none: nobody would wait for the test.
func TestExampleDaemonJobCleansUp(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("daemonjob/cleanup.yaml")
	s.await("Succeeded", "daemonjob/daemonjob-example-cleanup")
	s.requireOnce(3)
	s.kubectl("patch", "daemonjob/daemonjob-example-cleanup", "--type=merge", "--patch", `{"spec":{"ttlSecondsAfterFinished":0}}`)
	s.kubectl("wait", "--for=delete", "daemonjob/daemonjob-example-cleanup", "--timeout=300s")
	s.eventually("its Jobs and pods to be gone", func() error {
		left, err := kubectl("get", "jobs,pods", "--namespace", s.name, "--output=name")
		if err == nil && left != "" {
			err = errors.New(left)
		}
		return err
	})
}

// The chief decides: when it has succeeded, the workers are stopped.
func TestExampleReplicaJobTrains(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("replicajob/train.yaml")
	s.await("Succeeded", "replicajob/train")
	assert.Equal(t, "Chief is rank 0 of 4\n", s.logs("train-chief-0"))
	s.kubectl("wait", "--for=delete", "pod/train-worker-0", "pod/train-worker-1", "pod/train-worker-2", "--timeout=300s")
	assert.Equal(t, map[string]int{"train-chief-0": 1, "train-worker-0": 1, "train-worker-1": 1, "train-worker-2": 1}, s.made("pods"))
}

// One worker's exit code starts all of them again, once the old ones are gone.
func TestExampleReplicaJobRestarts(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("replicajob/restart.yaml")
	s.await("Succeeded", "replicajob/restart")
	s.is("replicajob/restart", "{.status.restarts}", "1")
	assert.Equal(t, "attempt 1\n", s.logs("restart-worker-1"))
	assert.Equal(t, map[string]int{"restart-worker-0": 2, "restart-worker-1": 2, "restart-worker-2": 2}, s.made("pods"))
}

// The launcher is made when the workers are ready, and all pods go at the end.
func TestExampleReplicaJobOfMPI(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("replicajob/mpi.yaml")
	s.await("Succeeded", "replicajob/mpi")
	s.kubectl("wait", "--for=delete", "pod/mpi-launcher-0", "pod/mpi-worker-0", "pod/mpi-worker-1", "--timeout=300s")
	ready := map[string]bool{}
	for _, w := range s.history() {
		var pod corev1.Pod
		switch {
		case w.resource == "pods/status" && w.decode(&pod) && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}):
			ready[w.name] = true
		case w.resource == "pods" && w.verb == "create" && w.name == "mpi-launcher-0":
			assert.Len(t, ready, 2, "the workers that were ready before the launcher was made")
		}
	}
}

// The workers are scheduled together by Kubernetes itself: the cluster has the feature gate GenericWorkload.
func TestExampleReplicaJobIsAGang(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	// Its minute after the end is made an hour, so that the test can look at it, and then none.
	s.applyWith("replicajob/gang.yaml", "ttlSecondsAfterFinished: 60", "ttlSecondsAfterFinished: 3600")
	s.await("Succeeded", "replicajob/gang")
	assert.Equal(t, map[string]int{"gang": 1}, s.made("podgroups.scheduling.k8s.io"))
	for _, pod := range s.pods() {
		assert.Equal(t, "gang", *pod.Spec.SchedulingGroup.PodGroupName)
	}
	assert.Equal(t, "1 of 2\n", s.logs("gang-worker-1"))
	s.kubectl("patch", "replicajob/gang", "--type=merge", "--patch", `{"spec":{"runPolicy":{"ttlSecondsAfterFinished":0}}}`)
	s.kubectl("wait", "--for=delete", "replicajob/gang", "--timeout=300s")
}
