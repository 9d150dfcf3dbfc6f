package fluxjob

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

// ofNamespace is the client of a manager that watches one namespace.
type ofNamespace struct {
	*buildertest.Client
	namespace string
}

func (c ofNamespace) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := c.Client.List(ctx, list, opts...); err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	var seen []runtime.Object
	for _, item := range items {
		if namespace := item.(client.Object).GetNamespace(); namespace == "" || namespace == c.namespace {
			seen = append(seen, item)
		}
	}
	return meta.SetList(list, seen)
}

// twoManagers is a queue with room for one MiniCluster, and a manager for each of two namespaces, with a job each. names are those of the
// managers.
func twoManagers(names map[string]string) buildertest.Scenario {
	a, b := makeJob("a", 1), makeJob("b", 2)
	a.Namespace, b.Namespace = "east", "west"
	setup := makeSetup("q", clusters(1))
	setup.Status.Manager = nil
	s := explored(1, miniClusters{ends: succeed}.play, setup, a, b)
	s.Requests, s.Others = nil, nil
	for _, namespace := range []string{"east", "west"} {
		m := admission.Manager{Name: names[namespace], Namespaces: []string{namespace}}
		jobs := a
		if namespace == "west" {
			jobs = b
		}
		ofJobs := func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(Operator(nil, m), ofNamespace{c, namespace}, c.Now)
		}
		if s.Requests == nil {
			s.Requests, s.Reconciler = requests(jobs), ofJobs
		} else {
			s.Others = append(s.Others, buildertest.Process{Name: "jobs of " + namespace, Requests: requests(jobs), Reconciler: ofJobs})
		}
		s.Others = append(s.Others, buildertest.Process{
			Name: "queue of " + namespace, Requests: requests(setup),
			Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
				return buildertest.NewReconciler(admission.Operator(nil, m), ofNamespace{c, namespace}, c.Now)
			},
		})
	}
	return s
}

// Two managers that both take a queue for theirs write to it in turn: each removes what it doesn't see. This is how Explore finds that,
// with the guard switched off: they have the same name.
func TestExploreFindsAQueueWrittenByTwoManagers(t *testing.T) {
	s := twoManagers(map[string]string{"east": "armature", "west": "armature"})
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{WholeWorld: true, States: 3000})
	var found *buildertest.Counterexample
	require.ErrorAs(t, err, &found)
	t.Log(found)
	assert.ErrorIs(t, err, buildertest.ErrNoRest)
}

// With names, one of them has the queue, and the other one waits until it isn't in use.
func TestExploreTwoManagersWithNames(t *testing.T) {
	s := twoManagers(map[string]string{"east": "ops/east", "west": "ops/west"})
	s.Normalize = func(obj *unstructured.Unstructured) bool { // which one is last depends on the order
		unstructured.RemoveNestedField(obj.Object, "status", "manager")
		return true
	}
	report := buildertest.Explore(t, s, buildertest.Bounds{WholeWorld: true, Crashes: testsize.Pick(0, 1)})
	assert.True(t, report.Exhausted)
}
