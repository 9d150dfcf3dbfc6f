package containernode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEachCgroupOnTheWayPassesTheControllersOn(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "devcluster-1/node-1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, controllersFile), []byte("cpu memory pids\n"), 0o644))
	require.NoError(t, delegate(root, "devcluster-1/node-1"))
	for _, dir := range []string{"", "devcluster-1"} {
		passed, err := os.ReadFile(filepath.Join(root, dir, subtreeFile))
		require.NoError(t, err)
		assert.Equal(t, "+cpu +memory +pids", string(passed))
	}
	assert.NoFileExists(t, filepath.Join(root, "devcluster-1/node-1", subtreeFile), "what is below it is the kubelet's")
}

func TestWithoutControllersItSaysSo(t *testing.T) {
	root := t.TempDir()
	assert.ErrorContains(t, delegate(root, "devcluster-1/node-1"), filepath.Join(root, controllersFile))
}
