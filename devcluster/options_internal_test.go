package devcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOptionsAreFlags(t *testing.T) {
	t.Setenv(flagsEnv, "--feature-gates=A=true  --nodes=2")
	flags := newOptions([]Option{WithFakeNodes(5), WithFlags("--audit-policy=p.yaml")}).up()
	assert.Equal(t, []string{
		"--fake-nodes=5", "--timeout=5m0s", "--nodes=0", "--audit-policy=p.yaml", "--feature-gates=A=true", "--nodes=2",
	}, flags, "those of the environment come last, and win")

	t.Setenv(flagsEnv, "")
	flags = newOptions([]Option{WithFakeNodes(5), WithoutControllers(), WithNodes("a", "b")}).up()
	assert.Contains(t, flags, "--fake-nodes=0")
	assert.Contains(t, flags, "--node-names=a,b")
	assert.Contains(t, flags, "--controllers=namespace-controller,serviceaccount-controller")
}

func TestFlagsOfClustersThatTheTestCannotReach(t *testing.T) {
	t.Setenv(kubeconfigEnv, "")
	t.Setenv(binaryEnv, "/no/program")
	for _, flag := range []string{"--containers", "--containers=true", "--containers=1"} {
		_, err := Up(t.Context(), WithFlags(flag))
		require.ErrorContains(t, err, flag)
		require.ErrorContains(t, err, "devcluster exec")
	}
	t.Setenv(flagsEnv, "--containers")
	_, err := Up(t.Context())
	require.ErrorContains(t, err, "devcluster exec", "also by the environment")
	t.Setenv(flagsEnv, "")
	require.NoError(t, newOptions([]Option{WithFlags("--containers=false")}).refuse())
}

func TestSharedClustersDifferByTheirOptions(t *testing.T) {
	key := func(opts ...Option) string { return newOptions(opts).key() }
	assert.Equal(t, key(), key(Shared()))
	for _, other := range []Option{WithFakeNodes(2), WithNodes("a"), WithWebhooks(), WithManifests("crds"), WithFlags("--nodes=1")} {
		assert.NotEqual(t, key(), key(other))
	}
}
