package buildertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func names(t *testing.T, c client.Reader) []string {
	t.Helper()
	var list corev1.ConfigMapList
	require.NoError(t, c.List(t.Context(), &list))
	var names []string
	for _, o := range list.Items {
		names = append(names, o.Name)
	}
	return names
}

func TestLaggingReads(t *testing.T) {
	s := newServer(configMap("seed"))
	c, world := s.Client("lagging"), s.Client("world")
	require.NoError(t, c.Lag(2))
	assert.Equal(t, []string{"seed"}, names(t, c), "what was there at first is seen")
	for _, name := range []string{"x", "y", "z"} {
		require.NoError(t, world.Create(t.Context(), configMap(name)))
	}
	assert.Equal(t, []string{"seed", "x"}, names(t, c))
	assert.Equal(t, []string{"seed", "x", "y", "z"}, names(t, c.Live()))
	require.Error(t, c.Create(t.Context(), configMap("z")), "writes are judged by what is")
	c.Refresh()
	assert.Equal(t, []string{"seed", "x", "y", "z"}, names(t, c))
	require.NoError(t, world.Delete(t.Context(), configMap("x")))
	assert.Len(t, names(t, c), 4, "the lag grows anew")
}

func TestFrozenReads(t *testing.T) {
	s := newServer()
	c, world := s.Client(), s.Client("world")
	c.Freeze()
	require.NoError(t, world.Create(t.Context(), configMap("a")))
	assert.Empty(t, names(t, c))
	c.Refresh()
	require.NoError(t, world.Create(t.Context(), configMap("b")))
	assert.Equal(t, []string{"a"}, names(t, c))
}

func TestReadYourWrites(t *testing.T) {
	s := newServer()
	c := s.Client()
	require.NoError(t, c.Lag(10))
	require.NoError(t, c.Create(t.Context(), configMap("a")))
	assert.Empty(t, names(t, c))
	c.ReadYourWrites(true)
	require.NoError(t, c.Create(t.Context(), configMap("b")))
	assert.Equal(t, []string{"a", "b"}, names(t, c))
}

func TestLagOfOneKind(t *testing.T) {
	s := newServer()
	c, world := s.Client(), s.Client("world")
	require.NoError(t, c.Lag(10, &appsv1.Deployment{}))
	require.NoError(t, world.Create(t.Context(), configMap("a")))
	require.NoError(t, world.Create(t.Context(), deployment("web", "i")))
	assert.True(t, exists(t, c, configMap("a")))
	assert.False(t, exists(t, c, deployment("web", "i")))
	require.NoError(t, c.Lag(0))
	assert.True(t, exists(t, c, deployment("web", "i")), "no kind lags")
}
