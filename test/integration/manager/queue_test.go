package manager

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
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
	for _, namespace := range namespaces {
		for i := range 3 {
			require.NoError(t, c.Create(t.Context(), &v1alpha1.FluxJob{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("job-%d", i)},
				Spec: v1alpha1.FluxJobSpec{Queue: queue.Name, Size: ptr.To[int32](1), MiniCluster: &v1alpha1.MiniClusterSpec{
					Flux:       v1alpha1.MiniClusterFlux{Disable: true},
					Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: "sleep 1"}},
				}},
			}))
		}
	}
	managers := make([]*binary.Process, len(namespaces))
	for i, namespace := range namespaces {
		managers[i] = binary.StartManager(t, namespace)
	}
	most, done, killed := 0, 0, false
	require.Eventuallyf(t, func() bool {
		holding := 0
		done = 0
		var jobs v1alpha1.FluxJobList // of both namespaces at one time: between two lists, a share could pass from one to the other
		if err := c.List(t.Context(), &jobs); err != nil {
			return false
		}
		for _, job := range jobs.Items {
			if !slices.Contains(namespaces, job.Namespace) {
				continue
			}
			if job.Status.Admission != nil {
				holding++
			}
			if job.Status.State == v1alpha1.FluxJobSucceeded {
				done++
			}
		}
		most = max(most, holding)
		if done > 0 && !killed {
			killed = true
			for i, namespace := range namespaces {
				managers[i].Kill()
				managers[i] = binary.StartManager(t, namespace)
			}
		}
		return done == 6
	}, 10*time.Minute, 50*time.Millisecond, "all jobs succeed")
	assert.Equal(t, 2, most, "jobs held a share at the same time")
}
