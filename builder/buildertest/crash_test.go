package buildertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

func TestCrashAfterLetsNothingMoreBeDone(t *testing.T) {
	s := newServer()
	c := s.Client()
	c.CrashAfter(2)
	require.NoError(t, c.Create(t.Context(), configMap("a")))
	require.NoError(t, c.Create(t.Context(), configMap("dry"), client.DryRunAll), "a dry run is no write")
	require.Error(t, c.Create(t.Context(), configMap("a")), "a write that failed is none")
	require.False(t, c.Crashed())
	require.NoError(t, c.Create(t.Context(), configMap("b")))
	require.True(t, c.Crashed())

	require.ErrorIs(t, c.Create(t.Context(), configMap("c")), buildertest.ErrCrashed)
	require.ErrorIs(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, configMap("")), buildertest.ErrCrashed)
	assert.Len(t, s.Objects(), 2)
	require.NoError(t, s.Client().Create(t.Context(), configMap("c")), "another process lives")
}

func TestCrashLosingTheReply(t *testing.T) {
	s := newServer()
	c := s.Client()
	c.CrashAfter(1, buildertest.LosingReply())
	obj := configMap("a")
	require.ErrorIs(t, c.Create(t.Context(), obj), buildertest.ErrCrashed)
	assert.Empty(t, obj.UID, "the process has not learnt of it")
	assert.True(t, exists(t, s.Client(), obj), "yet it was done")
}

func TestCrashPanicking(t *testing.T) {
	c := newServer().Client()
	c.CrashAfter(1, buildertest.Panicking())
	require.NoError(t, c.Create(t.Context(), configMap("a")))
	assert.PanicsWithValue(t, buildertest.ErrCrashed, func() { _ = c.Create(t.Context(), configMap("b")) })
	assert.True(t, c.Crashed(), "and the server still answers")
}

func TestCrashAtOnce(t *testing.T) {
	c := newServer().Client()
	c.CrashAfter(0)
	require.ErrorIs(t, c.Create(t.Context(), configMap("a")), buildertest.ErrCrashed)
}
