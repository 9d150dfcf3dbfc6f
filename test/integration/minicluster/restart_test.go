package minicluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestALostLeaderRestartsTheCluster(t *testing.T) {
	p := newPlace(t)
	p.manage()
	runs := filepath.Join(t.TempDir(), "runs")
	p.create("lost", 3, fmt.Sprintf("echo run >>%s; [ $(wc -l <%s) -lt 3 ] || exit 0; sleep 600", runs, runs), backoffLimit(2))
	started := func() int {
		text, err := os.ReadFile(runs)
		if !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		return strings.Count(string(text), "run\n")
	}
	seen := map[string]bool{}
	for i := range 2 {
		c := p.wait("lost", "it runs with another leader", func(c *v1alpha1.MiniCluster) bool {
			return isTrue(c, v1alpha1.MiniClusterRunning) && c.Status.Leader != nil && !seen[c.Status.Leader.Pod]
		})
		p.Eventually("its command has begun", func() bool { return started() == i+1 })
		for _, pod := range p.pods("lost") {
			seen[pod.Name] = true
		}
		require.NoError(t, p.Client.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: c.Status.Leader.Pod}}))
	}
	c := p.waitState("lost", v1alpha1.MiniClusterStateSucceeded)
	assert.Equal(t, int32(2), c.Status.Restarts)
	assert.Contains(t, c.Status.LastFailure, "the leader's pod lost-0-")
	assert.GreaterOrEqual(t, len(seen), 6, "all pods are new, twice: %v", seen)
	assert.Equal(t, 3, started(), "each start ran the command once")
}

func TestALostWorkerIsReplaced(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("worker", 3, "sleep 600")
	p.wait("worker", "all pods are ready", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
	before := p.pods("worker")
	lost := before["1"]
	require.NoError(t, p.Client.Delete(t.Context(), &lost))
	p.Eventually("another worker", func() bool {
		pod, ok := p.pods("worker")["1"]
		return ok && pod.UID != lost.UID
	})
	c := p.wait("worker", "all pods are ready", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
	assert.True(t, isTrue(c, v1alpha1.MiniClusterRunning))
	assert.Zero(t, c.Status.Restarts)
	assert.Equal(t, before["0"].UID, p.pods("worker")["0"].UID, "the leader goes on")
	require.NotNil(t, c.Status.FailedWorker)
	assert.Equal(t, int32(1), c.Status.FailedWorker.Rank)
	assert.Equal(t, lost.Name, c.Status.FailedWorker.Pod)
	// A pass that sees the pod while it terminates may find its containers ended.
	assert.Regexp(t, lost.Name+" was (deleted|taken away)", p.OneEvent("worker", v1alpha1.ReasonWorkerFailed).Note)
}

func TestAWorkerThatNeverComesUpIsOnRecord(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("strict", 2, "true", withFlux(t), func(c *v1alpha1.MiniCluster) {
		c.Spec.Logging.Strict = true
		c.Spec.Containers[0].Commands.WorkerPre = "false"
	})
	c := p.wait("strict", "the worker failed", func(c *v1alpha1.MiniCluster) bool { return c.Status.FailedWorker != nil })
	failed := c.Status.FailedWorker
	assert.Equal(t, int32(1), failed.Rank)
	assert.Equal(t, ptr.To[int32](75), failed.ExitCode)
	assert.Contains(t, failed.Message, "commands.workerPre ended rank 1 with exit code 1 (logging.strict is set)")
	c = p.wait("strict", "the Job replaces it, and it fails again", func(c *v1alpha1.MiniCluster) bool {
		return c.Status.FailedWorker.Count >= 2 // a slow test may not see the second failure before the third
	})
	assert.NotEqual(t, failed.Pod, c.Status.FailedWorker.Pod)
	assert.Equal(t, v1alpha1.MiniClusterStateStarting, c.Status.State)
	assert.Contains(t, condition(t, c, "BrokerReady").Message, fmt.Sprintf("rank 1 failed %d times", c.Status.FailedWorker.Count))
	p.OneEvent("strict", v1alpha1.ReasonWorkerFailed)
}
