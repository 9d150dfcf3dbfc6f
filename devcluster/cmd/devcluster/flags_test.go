package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMistakesAreNamed(t *testing.T) {
	c := newCluster(t)
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"up", "--nodes", "-1"}, []string{"--nodes -1", "0 to 100"}},
		{[]string{"up", "--nodes", "many"}, []string{"--nodes", "many"}},
		{[]string{"up", "--fake-nodes", "-5"}, []string{"--fake-nodes -5"}},
		{[]string{"up", "--nodes", "2", "--node-names", "a,b,c"}, []string{"--nodes 2", "--node-names", "a, b, c"}},
		{[]string{"up", "--node-names", "a,b,a"}, []string{`"a" is listed twice`}},
		{[]string{"up", "--node-names", "Upper"}, []string{`"Upper"`, "lower case"}},
		{[]string{"up", "--node-names", "fake-1"}, []string{`"fake-1"`, "fake node"}},
		{[]string{"up", "--timeout", "-1s"}, []string{"--timeout -1s"}},
		{[]string{"up", "--kubeconfig", ""}, []string{"--kubeconfig is empty"}},
		{[]string{"up", "--detach", "--with-parent"}, []string{"--detach", "--with-parent"}},
		{[]string{"up", "extra"}, []string{"extra"}},
		{[]string{"status", "-o", "yaml"}, []string{`"yaml"`, "json"}},
		{[]string{"down"}, []string{"holds no devcluster"}},
		{[]string{"delete"}, []string{"holds no devcluster"}},
		{[]string{"up", "--node-binaries", ""}, []string{"--node-binaries is empty"}},
		{[]string{"up", "--containers", "--node-binaries", "nowhere"}, []string{"--containers"}},
		{[]string{"up", "--audit-policy", "nowhere.yaml"}, []string{"--audit-policy", "nowhere.yaml"}},
		{[]string{"up", "--webhook-url", "localhost:9443"}, []string{"--webhook-url", "https://localhost:9443"}},
		{[]string{"up", "--webhook-url", "https://localhost:9443/validate"}, []string{"--webhook-url", "/validate"}},
		{[]string{"up", "--webhook-url", "https://localhost:9443", "--containers", "--node-binaries", "."},
			[]string{"--webhook-url", "leave out --containers"}},
		{[]string{"up", "--apiserver-flag", "--v=4"}, []string{"--apiserver-flag", "without dashes"}},
		{[]string{"kubectl", "--", "get", "pods"}, []string{"no cluster", "devcluster up"}},
		{[]string{"kubectl", "get", "pods", "--dir", "x"}, []string{"no cluster", "--dir, before the arguments of the command"}},
		{[]string{"exec", "--", "true"}, []string{"no cluster", "devcluster up"}},
		{[]string{"exec"}, []string{"name a command", "devcluster exec -- "}},
		{[]string{"load", "image.tar"}, []string{"no cluster", "devcluster up"}},
	} {
		said := c.fail(t, tc.args...)
		for _, want := range tc.want {
			assert.Contains(t, said, want, "%v", tc.args)
		}
	}
	assert.NoDirExists(t, c.dir, "a mistake leaves nothing behind")
}

func TestStatusOfNoClusterFails(t *testing.T) {
	c := newCluster(t)
	r, err := c.status(t)
	assert.Error(t, err)
	assert.False(t, r.Running)
	assert.Contains(t, r.Problem, "no cluster")
}

func TestDirectoryOfSomebodyElseIsLeftAlone(t *testing.T) {
	c := newCluster(t)
	precious := filepath.Join(c.dir, "precious")
	require.NoError(t, os.MkdirAll(c.dir, 0o755))
	require.NoError(t, os.WriteFile(precious, []byte("x"), 0o644))
	assert.Contains(t, c.fail(t, "up", "--detach"), "not empty")
	assert.Contains(t, c.fail(t, "up"), "not empty")
	assert.Contains(t, c.fail(t, "up", "--temporary"), "not empty")
	assert.Contains(t, c.fail(t, "delete"), "holds no devcluster")
	assert.FileExists(t, precious)
	require.NoError(t, os.RemoveAll(c.dir))
}
