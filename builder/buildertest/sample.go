package buildertest

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder"
)

// Sample reads an object from a YAML file into a new object, and returns it. An object without a namespace is in the namespace default.
// The test fails if the file can't be read, or has a field that the object's type doesn't have.
func Sample[T client.Object](t testing.TB, path string, into T) T {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		t.Fatalf("sample %s: %v", path, err)
	}
	if into.GetNamespace() == "" {
		into.SetNamespace("default")
	}
	return into
}

// ScenarioOf returns a scenario with an operator, which gets no manager, and one owner. The scenario's Deployments and StatefulSets roll
// out: see [RollOut].
func ScenarioOf[T client.Object](
	operator func(ctrlmanager.Manager) *builder.Operator[T], owner T, scheme *runtime.Scheme, options ...Option,
) Scenario {
	return Scenario{
		Scheme:   scheme,
		Options:  options,
		Objects:  []client.Object{owner},
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(owner)}},
		World:    RollOut,
		Reconciler: func(c *Client) (reconcile.Reconciler, error) {
			return NewReconciler(operator(nil), c, c.Now)
		},
	}
}
