package testcluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBinaryOfTheEnvironmentMustExist(t *testing.T) {
	t.Setenv(binaryEnv, filepath.Join(t.TempDir(), "none"))
	_, err := findBinary()
	assert.ErrorContains(t, err, binaryEnv)
}

func TestBinaryOfTheEnvironmentIsUsed(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "devcluster")
	require.NoError(t, os.WriteFile(binary, nil, 0o755))
	t.Setenv(binaryEnv, binary)
	found, err := findBinary()
	require.NoError(t, err)
	assert.Equal(t, binary, found)
}

func TestRepositoryRootHoldsDevcluster(t *testing.T) {
	root, err := repositoryRoot()
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(root, "devcluster", "cmd", "devcluster", "go.mod"))

	t.Chdir(t.TempDir())
	_, err = repositoryRoot()
	assert.ErrorContains(t, err, binaryEnv, "the error says what else there is")
}

func TestFlags(t *testing.T) {
	assert.Equal(t, []string{"--fake-nodes", "0", "--node-names", "minikube", "--node-names", "node-2", "--node-names", "node-3"}, defaults().flags())
	none := defaults()
	WithNodes()(&none)
	WithFakeNodes(5)(&none)
	assert.Equal(t, []string{"--fake-nodes", "5", "--nodes", "0"}, none.flags())
}
