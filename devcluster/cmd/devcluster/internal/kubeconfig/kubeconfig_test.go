package kubeconfig

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

func entry(t *testing.T, server string) Entry {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pem")
	require.NoError(t, os.WriteFile(file, []byte("pem of "+server), 0o600))
	return Entry{Name: "devcluster-x", Server: server, CAFile: file, CertFile: file, KeyFile: file}
}

const others = `apiVersion: v1
kind: Config
current-context: work
clusters: [{name: work, cluster: {server: "https://work.example"}}]
users: [{name: me, user: {token: secret}}]
contexts: [{name: work, context: {cluster: work, user: me, namespace: team}}]
`

func TestMergeAndRemoveLeaveOthersAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte(others), 0o600))
	require.NoError(t, entry(t, "https://127.0.0.1:1").Merge(file))
	require.NoError(t, entry(t, "https://127.0.0.1:2").Merge(file))

	config, err := clientcmd.LoadFromFile(file)
	require.NoError(t, err)
	assert.Equal(t, "devcluster-x", config.CurrentContext)
	assert.Len(t, config.Contexts, 2, "merging again replaces")
	assert.Equal(t, "https://127.0.0.1:2", config.Clusters["devcluster-x"].Server)
	assert.Equal(t, "pem of https://127.0.0.1:2", string(config.AuthInfos["devcluster-x"].ClientKeyData))

	require.NoError(t, Remove(file, "devcluster-x"))
	config, err = clientcmd.LoadFromFile(file)
	require.NoError(t, err)
	assert.Empty(t, config.CurrentContext)
	assert.Equal(t, "secret", config.AuthInfos["me"].Token)
	assert.Equal(t, "team", config.Contexts["work"].Namespace)
	assert.Len(t, config.Clusters, 1)
}

func TestFileOfOursAloneIsRemoved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, entry(t, "https://127.0.0.1:1").Merge(file))
	require.NoError(t, Remove(file, "another"))
	require.FileExists(t, file)
	require.NoError(t, Remove(file, "devcluster-x"))
	assert.NoFileExists(t, file)
	assert.NoError(t, Remove(file, "devcluster-x"), "removing again is no error")
}

func TestUnreadableFileIsNotOverwritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte("{{"), 0o600))
	assert.ErrorContains(t, entry(t, "https://127.0.0.1:1").Merge(file), file)
	assert.ErrorContains(t, Remove(file, "devcluster-x"), file)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "{{", string(data))
}
