package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// explored is a flow in which everything may happen in any order.
func explored(t *testing.T, world buildertest.World, flow *v1alpha1.JobFlow) buildertest.Scenario {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	return buildertest.Scenario{
		Scheme:   scheme,
		Options:  []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.JobFlow{})},
		Objects:  []client.Object{flow},
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(flow)}},
		World:    world,
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(Operator(nil), c, c.Now)
		},
	}
}

// Four nodes, two of them at the same time, in every order, with a crash at any moment and a stale cache at any moment.
func TestExploreADiamond(t *testing.T) {
	flow := makeFlow(node("a"), node("b", "a"), node("c", "a"), node("d", "b", "c"))
	report := buildertest.Explore(t, explored(t, buildertest.CompleteJobs, flow), buildertest.Bounds{Crashes: 1, StaleReads: 1})
	assert.True(t, report.Exhausted)
}

func TestExploreBig(t *testing.T) {
	flow := makeFlow(node("a"), node("b", "a"), node("c", "a"), node("d", "b", "c"))
	for name, b := range map[string]buildertest.Bounds{
		"none": {}, "1c": {Crashes: 1}, "1s3": {StaleReads: 1, Lag: 3}, "2c2s3": {Crashes: 2, StaleReads: 2, Lag: 3},
		"keep": {KeepMemory: true}, "keep1c": {KeepMemory: true, Crashes: 1}, "keep1c1s": {KeepMemory: true, Crashes: 1, StaleReads: 1},
	} {
		t.Run(name, func(t *testing.T) {
			buildertest.Explore(t, explored(t, buildertest.CompleteJobs, flow), b)
		})
	}
	t.Run("own", func(t *testing.T) {
		s := explored(t, buildertest.CompleteJobs, flow)
		s.LagOwnWrites = true
		buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1, Lag: 3})
	})
	t.Run("fails", func(t *testing.T) {
		s := explored(t, buildertest.FinishJobs(func(job *batchv1.Job) bool { return job.Name != "demo-b" }), flow)
		buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1, Lag: 3})
	})
}
