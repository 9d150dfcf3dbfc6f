package testcluster

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client returns a client of the cluster with all rights, which reads past every cache. It knows the kinds of Kubernetes and those
// that the functions add, such as the AddToScheme of a package of types.
func Client(tb testing.TB, addToScheme ...func(*runtime.Scheme) error) client.WithWatch {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientgoscheme.AddToScheme}, addToScheme...) {
		if err := add(scheme); err != nil {
			tb.Fatalf("testcluster: %v", err)
		}
	}
	c, err := client.NewWithWatch(Config(tb), client.Options{Scheme: scheme})
	if err != nil {
		tb.Fatalf("testcluster: %v", err)
	}
	return c
}
