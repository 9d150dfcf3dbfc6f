package minicluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestAFailureIsAFailure(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("fails", 2, "echo broken; exit 3")
	c := p.waitState("fails", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, ptr.To[int32](3), c.Status.ExitCode)
	assert.Zero(t, c.Status.Restarts, "backoffLimit is 0")
	assert.Equal(t, v1alpha1.ReasonLeaderFailed, condition(t, c, v1alpha1.ConditionFailed).Reason)
	assert.Contains(t, p.OneEvent("fails", v1alpha1.ReasonLeaderFailed).Note, "ended with exit code 3")
	assert.Contains(t, p.logs("fails"), "broken", "the log is kept")
	p.Eventually("no pod is left running", func() bool { return len(p.pods("fails")) == 0 })

	p.create("killed", 2, "kill -9 $$")
	c = p.waitState("killed", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, ptr.To[int32](137), c.Status.ExitCode, "though the container ends with 1, because the Job replaces a pod that ends with 137")
	assert.Zero(t, c.Status.Restarts)
}

func TestBackoffLimit(t *testing.T) {
	p := newPlace(t)
	p.manage()
	runs := filepath.Join(t.TempDir(), "runs")
	p.create("again", 2, fmt.Sprintf("echo run >>%s; exit $((10 + $(wc -l <%s)))", runs, runs), backoffLimit(2))
	c := p.waitState("again", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, int32(2), c.Status.Restarts)
	assert.Equal(t, ptr.To[int32](13), c.Status.ExitCode)
	text, err := os.ReadFile(runs)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(text), "run\n"))
}

// The leader fails while no operator is there to see it: Kubernetes alone must not run the command again, even if its exit code is one
// that the runtime sets for a pod that was lost.
func TestAFailureWithoutAnOperator(t *testing.T) {
	p := newPlace(t)
	stop := p.manage()
	dir := t.TempDir()
	p.create("alone", 2, fmt.Sprintf("echo run >>%s/runs; while [ ! -e %s/go ]; do sleep 0.1; done; exit 255", dir, dir))
	p.wait("alone", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterRunning) })
	stop()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o644))
	p.Eventually("the Job has failed by itself", func() bool {
		for _, c := range p.job("alone").Status.Conditions {
			if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
				return true
			}
		}
		return false
	})
	p.manage()
	c := p.waitState("alone", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, ptr.To[int32](255), c.Status.ExitCode)
	text, err := os.ReadFile(filepath.Join(dir, "runs"))
	require.NoError(t, err)
	assert.Equal(t, "run\n", string(text))
}

func TestDeadline(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("late", 2, "sleep 600", backoffLimit(5), func(c *v1alpha1.MiniCluster) { c.Spec.DeadlineSeconds = ptr.To[int64](3) })
	c := p.waitState("late", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, v1alpha1.ReasonDeadlineExceeded, condition(t, c, v1alpha1.ConditionFailed).Reason)
	assert.Zero(t, c.Status.Restarts)
	assert.Nil(t, c.Status.ExitCode)
}

func TestTTL(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("brief", 1, "true", func(c *v1alpha1.MiniCluster) { c.Spec.TTLSecondsAfterFinished = ptr.To[int32](1) })
	owner := p.cluster("brief")
	var job *batchv1.Job
	p.Eventually("it has its Job", func() bool { job = p.job("brief"); return job != nil })
	p.Eventually("it is deleted", func() bool {
		err := p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "brief"}, &v1alpha1.MiniCluster{})
		return apierrors.IsNotFound(err)
	})
	assert.True(t, metav1.IsControlledBy(job, owner), "the Job goes with it")
	// By garbage collection, which looks for new kinds, as ours are here, every half a minute only.
	p.Eventually("its Job is gone, too", func() bool { return p.job("brief") == nil && len(p.pods("brief")) == 0 })
}

func TestCleanup(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("clean", 2, "exit 5", func(c *v1alpha1.MiniCluster) { c.Spec.Cleanup = true })
	p.waitState("clean", v1alpha1.MiniClusterStateFailed)
	p.Eventually("nothing is left", func() bool {
		var maps corev1.ConfigMapList
		var services corev1.ServiceList
		require.NoError(t, p.Client.List(t.Context(), &maps, client.InNamespace(p.Namespace), client.HasLabels{"api.practice.com/minicluster"}))
		require.NoError(t, p.Client.List(t.Context(), &services, client.InNamespace(p.Namespace), client.HasLabels{"api.practice.com/minicluster"}))
		return p.job("clean") == nil && len(p.pods("clean"))+len(maps.Items)+len(services.Items) == 0
	})
	assert.Equal(t, ptr.To[int32](5), p.cluster("clean").Status.ExitCode)
}
