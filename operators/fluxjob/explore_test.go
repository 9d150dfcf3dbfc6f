package fluxjob

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/internal/testsize"
)

// Two jobs on a quota of one.
func TestExploreTwoJobsOnAQuotaOfOne(t *testing.T) {
	s := story.Scenario(t, "testdata/explore/quota.txt", allOperators)
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), Coarse: true, Walks: testsize.Pick(0, 50)})
	assert.True(t, report.Exhausted)
}
