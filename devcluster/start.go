package devcluster

import (
	"context"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// Start starts a cluster and returns a connection to it with all rights and without a client-side limit of requests. The caller may change
// the connection. The cluster stops at the end of the test. What doesn't work fails the test.
func Start(tb testing.TB, opts ...Option) *rest.Config {
	tb.Helper()
	return StartCluster(tb, opts...).Config()
}

// StartCluster is [Start] for tests that need more of the cluster than a connection.
func StartCluster(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	o := newOptions(opts)
	start := up
	if o.shared {
		start = upShared
	}
	cluster, err := start(context.Background(), o)
	if err != nil {
		tb.Fatalf("devcluster: %v", err)
	}
	if !o.shared {
		tb.Cleanup(func() {
			if err := cluster.Stop(); err != nil {
				tb.Errorf("devcluster: %v", err)
			}
		})
	}
	return cluster
}

// shared are the clusters of this test binary, by their options.
var shared = struct {
	mu       sync.Mutex
	clusters map[string]func() (*Cluster, error)
}{clusters: map[string]func() (*Cluster, error){}}

// upShared starts a cluster for the first test that asks for it. The others wait for it, and fail as it does.
func upShared(ctx context.Context, o *options) (*Cluster, error) {
	shared.mu.Lock()
	start, ok := shared.clusters[o.key()]
	if !ok {
		start = sync.OnceValues(func() (*Cluster, error) { return up(ctx, o) })
		shared.clusters[o.key()] = start
	}
	shared.mu.Unlock()
	return start()
}
