package daemonjob

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/testsize"
)

// explored is a DaemonJob on nodes, in which everything may happen in any order.
func explored(t *testing.T, world buildertest.World, job *v1alpha1.DaemonJob, nodes ...*corev1.Node) buildertest.Scenario {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	objects := []client.Object{job}
	for _, n := range nodes {
		objects = append(objects, n)
	}
	return buildertest.Scenario{
		Scheme: scheme, Options: []buildertest.Option{kinds}, Objects: objects, World: world,
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(job)}},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(Operator(nil), c, c.Now)
		},
	}
}

// Three nodes, one after the other. A node fails, and the failure stops the rest.
func TestExploreARollOut(t *testing.T) {
	job := makeJob(oneByOne(v1alpha1.FailureFailFast, nil))
	s := explored(t, failOn("n2"), job, makeNode("n1"), makeNode("n2"), makeNode("n3"))
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1, Lag: 2})
	assert.True(t, report.Exhausted)
}

// A user suspends the job, and resumes it, each at any time.
func TestExploreASuspension(t *testing.T) {
	s := explored(t, failOn(), makeJob(), makeNode("n1"), makeNode("n2"))
	for _, suspend := range []bool{true, false} {
		s.Then = append(s.Then, buildertest.Change(makeJob(), func(job *v1alpha1.DaemonJob) { job.Spec.Suspend = suspend }))
	}
	s.Normalize = withoutResumed
	bounds := buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), Edits: 2}
	report := buildertest.Explore(t, s, bounds)
	assert.True(t, report.Exhausted)

	// After this crash the operator once didn't know that it had suspended the Job itself, and never resumed it.
	assert.NoError(t, buildertest.Replay(t.Context(), s, bounds, `
		1. pass of default/demo
		2. step the cluster: change Job.batch default/demo-n1
		3. a user makes edit 1
		4. pass of default/demo, crash after write 1: patch Job.batch default/demo-n2
		5. a user makes edit 2
		6. pass of default/demo`))
}

// withoutResumed removes the trace of a suspension: whether there was one depends on who came first.
func withoutResumed(obj *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	conditions = slices.DeleteFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == v1alpha1.ConditionSuspended && condition["status"] == "False"
	})
	if conditions != nil {
		_ = unstructured.SetNestedSlice(obj.Object, conditions, "status", "conditions")
	}
	return true
}
