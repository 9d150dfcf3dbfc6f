package jobflow

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/testsize"
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

// A user suspends the flow, and resumes it, each at any time.
func TestExploreASuspension(t *testing.T) {
	flow := makeFlow(node("a"), node("b", "a"))
	s := explored(t, buildertest.CompleteJobs, flow)
	for _, suspend := range []bool{true, false} {
		s.Then = append(s.Then, buildertest.Change(flow, func(flow *v1alpha1.JobFlow) { flow.Spec.Suspend = suspend }))
	}
	s.Normalize = func(obj *unstructured.Unstructured) bool { // whether it was suspended depends on who came first
		unstructured.RemoveNestedField(obj.Object, "status", "activeSince")
		conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		conditions = slices.DeleteFunc(conditions, func(c any) bool {
			condition, _ := c.(map[string]any)
			return condition["type"] == v1alpha1.ConditionSuspended
		})
		if conditions == nil {
			return true
		}
		_ = unstructured.SetNestedSlice(obj.Object, conditions, "status", "conditions")
		return true
	}
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), Edits: 2})
	assert.True(t, report.Exhausted)
}
