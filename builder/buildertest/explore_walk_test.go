package buildertest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/builder/buildertest"
)

// An operator with a bug in its memory fails only where its processes keep their memory, as in a random walk.
func TestACounterexampleOfAWalkHasItsBounds(t *testing.T) {
	given := buildertest.Bounds{Crashes: 1, Coarse: true, Walks: 50}
	_, err := buildertest.FindCounterexample(t.Context(), running(inMemory), given)
	require.ErrorIs(t, err, buildertest.ErrOtherEnd)
	var found *buildertest.Counterexample
	require.ErrorAs(t, err, &found)
	assert.Equal(t, 4, found.Bounds.Crashes)
	assert.True(t, found.Bounds.KeepMemory)
	first, _, _ := strings.Cut(found.Error(), "\n")
	assert.Equal(t, "in a random walk, within Crashes: 4, StaleReads: 0, EarlyTimers: 0, LostReplies: 0, KeepMemory: true:", first)
	assert.EqualError(t, buildertest.Replay(t.Context(), running(inMemory), given, found.Error()), found.Error())
	assert.NoError(t, buildertest.Replay(t.Context(), running(none), given, found.Error()), "the same run of an operator without the bug")
}
