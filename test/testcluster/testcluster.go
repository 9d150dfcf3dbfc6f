package testcluster

import (
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

const (
	pollEvery = 20 * time.Millisecond
	patience  = 120 * time.Second
)

// Config returns a connection to the cluster with all rights, starting the cluster if need be. The caller may
// change it.
func Config(tb testing.TB) *rest.Config {
	tb.Helper()
	if err := shared.start(); err != nil {
		tb.Fatalf("testcluster: %v", err)
	}
	return rest.CopyConfig(shared.config)
}

// Kubeconfig returns the path of a kubeconfig file for the cluster, for programs that the test runs.
func Kubeconfig(tb testing.TB) string {
	tb.Helper()
	Config(tb)
	return shared.kubeconfig
}
