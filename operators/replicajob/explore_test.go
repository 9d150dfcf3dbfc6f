package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/internal/origin"
)

// explored is a ReplicaJob in which everything may happen in any order.
func explored(t *testing.T, world buildertest.World, job *v1alpha1.ReplicaJob) buildertest.Scenario {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	return buildertest.Scenario{
		Scheme:   scheme,
		Options:  []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.ReplicaJob{})},
		Objects:  []client.Object{job},
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(job)}},
		World:    world,
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(ReplicaJobs.Operator(nil), c, c.Now)
		},
	}
}

// A chief that waits for two workers.
func TestExploreAJobThatSucceeds(t *testing.T) {
	job := makeJob(replicas("Chief", 1, after("Worker", "Ready")), replicas("Worker", 2))
	s := explored(t, runPods(func(p *corev1.Pod) int32 {
		if p.Labels[LabelRole] == RoleMaster {
			return 0
		}
		return -1
	}), job)
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1})
	assert.True(t, report.Exhausted)
}

// A worker that fails once starts again.
func TestExploreAReplicaThatRestarts(t *testing.T) {
	s := explored(t, runPods(func(p *corev1.Pod) int32 {
		if p.Labels[LabelIndex] == "0" && origin.Number(p.Labels, LabelRestarts) < 1 {
			return 137
		}
		return 0
	}), makeJob(replicas("Worker", 2, restart("ExitCode")), success("AllWorkers"), backoffLimit(2)))
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1})
	assert.True(t, report.Exhausted)
}
