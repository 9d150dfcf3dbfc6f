package manager

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

// Two managers of different namespaces share a queue, and are killed and started again: its quota holds for both, and all jobs of
// either namespace run in the end.
func TestTwoManagersOfOneQueue(t *testing.T) {
	testcluster.InstallCRDs(t, "config/crd")
	c := testcluster.Client(t, v1alpha1.AddToScheme)
	namespaces := []string{testcluster.Namespace(t), testcluster.Namespace(t)}
	queue := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: namespaces[0]}}
	queue.Spec.Quota.MiniClusters = ptr.To[int32](2)
	require.NoError(t, c.Create(t.Context(), queue))
	t.Cleanup(func() { _ = c.Delete(context.Background(), queue) })
	dir := t.TempDir()
	end := func(namespace, job string) string { return filepath.Join(dir, namespace+"-"+job) }
	for _, namespace := range namespaces {
		for i := range 3 {
			name := fmt.Sprint("job-", i)
			require.NoError(t, c.Create(t.Context(), &v1alpha1.FluxJob{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
				Spec: v1alpha1.FluxJobSpec{Queue: queue.Name, Size: ptr.To[int32](1), MiniCluster: &v1alpha1.MiniClusterSpec{
					Flux:       v1alpha1.MiniClusterFlux{Disable: true},
					Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: harness.ScriptUntil(end(namespace, name))}},
				}},
			}))
		}
	}
	managers := make([]*binary.Process, len(namespaces))
	for i, namespace := range namespaces {
		managers[i] = binary.StartManager(t, namespace)
	}
	// When two jobs hold a share, one of them ends. Then the managers are killed, and all other jobs may end.
	most, killed := 0, false
	harness.Eventually(t, 10*time.Minute, "all jobs succeed", func() bool {
		var holding []string
		done := 0
		var jobs v1alpha1.FluxJobList // of both namespaces at one time: between two lists, a share could pass from one to the other
		if err := c.List(t.Context(), &jobs); err != nil {
			return false
		}
		for _, job := range jobs.Items {
			if !slices.Contains(namespaces, job.Namespace) {
				continue
			}
			if job.Status.Admission != nil {
				holding = append(holding, end(job.Namespace, job.Name))
			}
			if job.Status.State == v1alpha1.FluxJobSucceeded {
				done++
			}
		}
		if most < 2 && len(holding) == 2 {
			require.NoError(t, os.WriteFile(holding[0], nil, 0o600))
		}
		most = max(most, len(holding))
		if done > 0 && !killed {
			killed = true
			for i, namespace := range namespaces {
				managers[i].Kill()
				managers[i] = binary.StartManager(t, namespace)
			}
			for _, job := range jobs.Items {
				require.NoError(t, os.WriteFile(end(job.Namespace, job.Name), nil, 0o600))
			}
		}
		return done == 6
	})
	assert.Equal(t, 2, most, "jobs held a share at the same time")
}
