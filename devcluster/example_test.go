package devcluster_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/armature-dev/armature/devcluster"
)

// A test with a cluster of its own.
func ExampleStart() {
	_ = func(t *testing.T) {
		config := devcluster.Start(t, devcluster.WithFakeNodes(3))
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil || len(nodes.Items) != 3 {
			t.Errorf("%d nodes, %v", len(nodes.Items), err)
		}
	}
}

// All tests of a package that ask for the same cluster share one.
func ExampleShared() {
	_ = func(t *testing.T) {
		config := devcluster.Start(t, devcluster.Shared(), devcluster.WithManifests("config/crd/bases"))
		_ = config
	}
}

// A program, or a TestMain, stops the cluster itself.
func ExampleUp() {
	_ = func(m *testing.M) int {
		cluster, err := devcluster.Up(context.Background(), devcluster.WithNodes("node-1"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = cluster.Stop() }()
		os.Setenv("KUBECONFIG", cluster.Kubeconfig())
		return m.Run()
	}
}
