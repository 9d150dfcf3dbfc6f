package replicajob_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/internal/testsize"
)

// A chief that waits for two workers.
func TestExploreAJobThatSucceeds(t *testing.T) {
	s := story.Scenario(t, "testdata/explore/chief.txt", config(t))
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1, Walks: testsize.Pick(0, 50)})
	assert.True(t, report.Exhausted)
}

// A worker that fails once starts again.
func TestExploreAReplicaThatRestarts(t *testing.T) {
	s := story.Scenario(t, "testdata/explore/restart.txt", config(t))
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1})
	assert.True(t, report.Exhausted)
}
