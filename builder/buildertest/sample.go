package buildertest

import (
	"os"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/buildertest/internal/crd"
	"github.com/armature-dev/armature/builder/internal/scope"
)

// Sample reads an object from a YAML file into a new object, and returns it. An object without a namespace is in the namespace default,
// unless its kind is cluster-scoped: by one of the CRDs, in files or in directories of them; without a CRD, as a kind of Kubernetes. The
// test fails if a file can't be read, if the object has a field that its type doesn't have, or if a type of Kubernetes has another kind.
func Sample[T client.Object](t testing.TB, path string, into T, crds ...string) T {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		t.Fatalf("sample %s: %v", path, err)
	}
	if gvk := into.GetObjectKind().GroupVersionKind(); !gvk.Empty() && !mayBe(into, gvk) {
		t.Fatalf("sample %s: the kind is %s; a kind of %T is accepted", path, gvk, into)
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

// mayBe reports whether a Go type may be that of a kind. It knows the types of Kubernetes.
func mayBe(obj client.Object, gvk schema.GroupVersionKind) bool {
	if kinds, _, err := scheme.Scheme.ObjectKinds(obj); err == nil {
		return slices.Contains(kinds, gvk)
	}
	return !scheme.Scheme.Recognizes(gvk)
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
