package buildertest

import (
	"os"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/buildertest/internal/crd"
	"github.com/armature-dev/armature/builder/internal/scope"
)

// Sample reads an object from a YAML file into a new object, and returns it. An object without a namespace is in the namespace default,
// unless its kind is cluster-scoped: by one of the CRDs, in files or in directories of them; without a CRD, as a kind of Kubernetes. The
// test fails if a file can't be read, or if the object has a field that its type doesn't have.
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

// isClusterScopedIn reports whether a kind is cluster-scoped, by its CRD if it has one.
func isClusterScopedIn(crds []string, gk schema.GroupKind) (bool, error) {
	if len(crds) == 0 {
		return scope.IsCluster(gk), nil
	}
	found, err := crd.Read(crds...)
	if i := slices.IndexFunc(found, func(k *crd.Kind) bool { return k.GroupKind() == gk }); i >= 0 {
		return !found[i].Namespaced, err
	}
	return scope.IsCluster(gk), err
}
