package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// shared is one cluster for all tests that only use it. They leave it healthy.
var shared struct {
	once sync.Once
	c    *testCluster
	err  error
}

// sharedNodes are chosen so that no default hides a mistake.
const sharedNodes = "minikube,worker-b"

func sharedCluster(t *testing.T) *testCluster {
	t.Helper()
	shared.once.Do(func() {
		parent, err := os.MkdirTemp("", "devcluster-test-")
		if err != nil {
			shared.err = err
			return
		}
		shared.c = &testCluster{dir: filepath.Join(parent, ".devcluster")}
		stdout, stderr, err := run(shared.c.args([]string{"up", "--node-names", sharedNodes, "--fake-nodes", "3",
			"--audit-policy", filepath.Join("testdata", "audit-policy.yaml"), "--detach"})...)
		if err != nil {
			shared.err = fmt.Errorf("%w\n%s%s", err, stdout, stderr)
		}
	})
	require.NoError(t, shared.err)
	return shared.c
}

func stopShared() error {
	if shared.c == nil {
		return nil
	}
	defer os.RemoveAll(filepath.Dir(shared.c.dir))
	if stdout, stderr, err := run("delete", "--dir", shared.c.dir); err != nil {
		return fmt.Errorf("%w\n%s%s", err, stdout, stderr)
	}
	return nil
}
