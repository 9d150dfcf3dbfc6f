package buildertest

import (
	"os"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/buildertest/internal/crd"
)

// Sample reads an object from a YAML file into a new object, and returns it. An object without a namespace is in the namespace default,
// unless one of the CRDs, in files or in directories of them, says that its kind is cluster-scoped. The test fails if a file can't be read,
// or if the object has a field that its type doesn't have.
func Sample[T client.Object](t testing.TB, path string, into T, crds ...string) T {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		t.Fatalf("sample %s: %v", path, err)
	}
	clusterScoped, err := isClusterScopedIn(crds, into.GetObjectKind().GroupVersionKind().GroupKind())
	if err != nil {
		t.Fatalf("sample %s: %v", path, err)
	}
	if into.GetNamespace() == "" && !clusterScoped {
		into.SetNamespace("default")
	}
	return into
}

// isClusterScopedIn reports whether CRDs say that a kind is cluster-scoped.
func isClusterScopedIn(crds []string, gk schema.GroupKind) (bool, error) {
	if len(crds) == 0 {
		return false, nil
	}
	found, err := crd.Read(crds...)
	return slices.ContainsFunc(found, func(k *crd.Kind) bool { return k.GroupKind() == gk && !k.Namespaced }), err
}
