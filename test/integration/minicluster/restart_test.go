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
}
