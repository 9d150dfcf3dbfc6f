package buildertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/builder/buildertest"
)

// chained is three Jobs, one after the other.
func chained() buildertest.Scenario {
	s := by(chain)
	s.World = buildertest.CompleteJobs
	return s
}

func TestExploreOfASoundReconciler(t *testing.T) {
	report := buildertest.Explore(t, chained(), buildertest.Bounds{})
	assert.True(t, report.Exhausted)
	assert.Equal(t, 1, report.Ends)
	few := report.States

	report = buildertest.Explore(t, chained(), buildertest.Bounds{Crashes: 2, StaleReads: 2, Lag: 3})
	assert.True(t, report.Exhausted)
	assert.Greater(t, report.States, 2*few)
	require.Positive(t, report.Passes)
}
