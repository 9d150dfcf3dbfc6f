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
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	simulated "github.com/armature-dev/armature/builder/buildertest/world"
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

// inNamespace is an operator of a manager that watches one namespace.
func inNamespace[T client.Object](
	namespace string, owner T, describe func(manager.Manager, admission.Manager) *builder.Operator[T], m admission.Manager,
) simulated.Operator {
	return simulated.Operator{Owner: owner, Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(describe(nil, m), ofNamespace{c, namespace}, c.Now)
	}}
}

// twoManagers is a queue with room for one MiniCluster, and a manager for each of two namespaces, with a job each. names are those of the
// managers.
func twoManagers(t *testing.T, names map[string]string) buildertest.Scenario {
	var operators []simulated.Operator
	for _, namespace := range []string{"east", "west"} {
		m := admission.Manager{Name: names[namespace], Namespaces: []string{namespace}}
		operators = append(operators,
			inNamespace(namespace, &v1alpha1.FluxJob{}, Operator, m), inNamespace(namespace, &v1alpha1.FluxSetup{}, admission.Operator, m))
	}
	s := story.Scenario(t, "testdata/explore/managers.txt", config(append(operators, ofClusters())...))
	ofEast, ofWest := s.Requests[:1], s.Requests[1:]
	s.Requests, s.Owner = ofEast, nil // no manager has the jobs of the other one
	s.Others[1].Requests, s.Others[1].Owner = ofWest, nil
	return s
}

// Two managers that both take a queue for theirs write to it in turn: each removes what it doesn't see. This is how Explore finds that,
// with the guard switched off: they have the same name.
func TestExploreFindsAQueueWrittenByTwoManagers(t *testing.T) {
	s := twoManagers(t, map[string]string{"east": "armature", "west": "armature"})
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{States: 3000, Coarse: true})
	var found *buildertest.Counterexample
	require.ErrorAs(t, err, &found)
	t.Log(found)
	assert.ErrorIs(t, err, buildertest.ErrNoRest)
}

// With names, one of them has the queue, and the other one waits until it isn't in use.
func TestExploreTwoManagersWithNames(t *testing.T) {
	s := twoManagers(t, map[string]string{"east": "ops/east", "west": "ops/west"})
	s.Normalize = func(obj *unstructured.Unstructured) bool { // which one is last depends on the order
		unstructured.RemoveNestedField(obj.Object, "status", "manager")
		return true
	}
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: testsize.Pick(0, 1), Coarse: true})
	assert.True(t, report.Exhausted)
}
