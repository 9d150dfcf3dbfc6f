package clusterdir

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newDir(t *testing.T) Dir {
	t.Helper()
	dir, err := New(filepath.Join(t.TempDir(), "My Project", DefaultName))
	require.NoError(t, err)
	return dir
}

func TestNameComesFromTheProject(t *testing.T) {
	assert.Regexp(t, `^my-project-[0-9a-f]{4}$`, newDir(t).ClusterName())
	assert.Regexp(t, `^c1-[0-9a-f]{4}$`, Dir("/tmp/c1").ClusterName())
	assert.NotEqual(t, Dir("/a/c1").ClusterName(), Dir("/b/c1").ClusterName())
	assert.Regexp(t, `^[0-9a-f]{4}$`, Dir("/").ClusterName())
}

func TestSettingsComeBack(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, dir.Create())
	s, err := dir.LoadOrNewSettings()
	require.NoError(t, err)
	assert.Equal(t, []string{"node-1"}, s.Nodes)
	assert.False(t, dir.IsCluster(), "not before its settings are saved")
	s.Ports["etcd"] = 7
	require.NoError(t, dir.SaveSettings(s))
	again, err := dir.LoadOrNewSettings()
	require.NoError(t, err)
	assert.Equal(t, s, again)
	require.NoError(t, dir.Delete())
	assert.NoDirExists(t, string(dir))
}

// A first `up` that was killed may have left the state of its run and half written files.
func TestCreateGoesOnAfterAnInterruptedFirstUp(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, dir.Create())
	require.NoError(t, os.WriteFile(dir.RunFile(), []byte("{}"), 0o600))
	half, err := os.CreateTemp(string(dir), ".tmp-*")
	require.NoError(t, err)
	require.NoError(t, half.Close())
	require.NoError(t, dir.Create())
	require.NoError(t, os.WriteFile(filepath.Join(string(dir), "precious"), nil, 0o600))
	require.ErrorContains(t, dir.Create(), "not empty")
}

func TestDeleteExceptLogs(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, dir.Create())
	require.Error(t, dir.DeleteExceptLogs(), "no cluster")
	s, err := dir.LoadOrNewSettings()
	require.NoError(t, err)
	require.NoError(t, dir.SaveSettings(s))
	require.NoError(t, os.WriteFile(dir.Log("etcd"), []byte("why"), 0o600))
	require.NoError(t, dir.DeleteExceptLogs())
	assert.FileExists(t, dir.Log("etcd"))
	entries, err := os.ReadDir(string(dir))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	require.NoError(t, dir.Create(), "the next cluster takes the directory")
	require.NoError(t, dir.SaveSettings(s))
	require.NoError(t, os.Remove(dir.Log("etcd")))
	require.NoError(t, dir.DeleteExceptLogs())
	assert.NoDirExists(t, string(dir), "nothing was logged")
}

func TestSettingsOfSomethingElseAreAnError(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, dir.Create())
	for _, content := range []string{`{"kind":"Other"}`, `not json`} {
		require.NoError(t, os.WriteFile(dir.SettingsFile(), []byte(content), 0o600))
		_, err := dir.LoadOrNewSettings()
		assert.ErrorContains(t, err, "cluster.json")
		assert.Error(t, dir.Delete())
	}
}

func TestLockIsHeldByItsInheritors(t *testing.T) {
	dir := newDir(t)
	assert.False(t, dir.Running(), "no directory")
	require.NoError(t, dir.Create())
	lock, err := dir.Lock()
	require.NoError(t, err)
	assert.True(t, dir.Running())
	_, err = dir.Lock()
	assert.ErrorIs(t, err, ErrLocked)

	// A child inherits the open file, and with it the lock: it stays when only the child is left.
	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{lock}
	stdin, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	require.NoError(t, lock.Close())
	assert.True(t, dir.Running())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, dir.WaitStopped(ended), context.Canceled)
	require.NoError(t, stdin.Close())
	require.NoError(t, child.Wait())
	assert.NoError(t, dir.WaitStopped(t.Context()))
}
