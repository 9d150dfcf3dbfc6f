package buildertest

import (
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
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
