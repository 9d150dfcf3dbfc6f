package daemonjob_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/internal/testsize"
)

// Three nodes, one after the other. A node fails, and the failure stops the rest.
func TestExploreARollOut(t *testing.T) {
	s := story.Scenario(t, "testdata/explore/fail_fast.txt", config(t))
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1, Lag: 2, Coarse: true, Walks: testsize.Pick(0, 50)})
	assert.True(t, report.Exhausted)
}

// A user suspends the job, and resumes it, each at any time.
func TestExploreASuspension(t *testing.T) {
	s := story.Scenario(t, "testdata/explore/suspension.txt", config(t))
	s.Normalize = func(obj *unstructured.Unstructured) bool { // whether it was suspended depends on who came first
		buildertest.RemoveCondition(obj, v1alpha1.ConditionSuspended) // a Job's has the same name
		return true
	}
	bounds := buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), Edits: 2, Coarse: true}
	report := buildertest.Explore(t, s, bounds)
	assert.True(t, report.Exhausted)

	// After this crash the operator once didn't know that it had suspended the Job itself, and never resumed it.
	assert.NoError(t, buildertest.Replay(t.Context(), s, bounds, `
		1. pass of default/demo
		2. step Job default/demo-n1
		3. a user makes edit 1
		4. pass of default/demo, crash after write 1: patch Job.batch default/demo-n2
		5. a user makes edit 2
		6. pass of default/demo`))
}
