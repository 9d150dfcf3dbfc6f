package flowstate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// drawFlow draws a version of a flow of n nodes, of which some have ended, and some have details.
func drawFlow(t *rapid.T, n int) *v1alpha1.JobFlow {
	flow := &v1alpha1.JobFlow{}
	flow.Generation = 2
	flow.Status.ObservedGeneration = rapid.Int64Range(1, 2).Draw(t, "observed generation")
	how := make([]int, n)
	for i := range n {
		name := fmt.Sprint("n", i)
		flow.Spec.Flows = append(flow.Spec.Flows, v1alpha1.Flow{Name: name})
		how[i] = rapid.IntRange(0, 5).Draw(t, name)
		if how[i] >= 4 {
			flow.Status.Flows = append(flow.Status.Flows, v1alpha1.FlowStatus{Name: name, State: v1alpha1.FlowRunning, Attempts: int32(how[i])})
		}
	}
	last := &flow.Spec.Flows
	if rapid.Bool().Draw(t, "finally") {
		flow.Spec.Finally, *last = (*last)[n-1:], (*last)[:n-1]
	}
	ended := func(as int) v1alpha1.Indexes { return v1alpha1.IndexesOf(n, func(i int) bool { return how[i] == as }) }
	flow.Status.Finished, flow.Status.Failed, flow.Status.Skipped = ended(1), ended(2), ended(3)
	if rapid.Bool().Draw(t, "written by another program") { // intervals may overlap, and may not be intervals
		flow.Status.Finished = v1alpha1.Indexes(rapid.StringMatching(`([0-9]{1,2}(-[0-9]{1,2})?,){0,4}[0-9-]{0,3}`).Draw(t, "finished"))
		flow.Status.Failed = v1alpha1.Indexes(rapid.StringMatching(`([0-9](-[0-9]{1,2})?,){0,4}`).Draw(t, "failed"))
	}
	return flow
}

// An update leads to the same as reading all of it, and looks at all that has changed.
func TestUpdateIsLikeReadingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		before, after := drawFlow(t, n), drawFlow(t, n)
		after.Spec = before.Spec
		all, byName := Of(before), map[string]int{}
		for i := range all {
			byName[all[i].Name] = i
		}
		earlier := Of(before)
		touched := Update(all, byName, before, after)
		require.Equal(t, Of(after), all)
		for i := range all {
			if fmt.Sprint(earlier[i]) != fmt.Sprint(all[i]) {
				require.Contains(t, touched, i)
			}
		}
	})
}

// The work of an update is proportional to what has changed.
func TestUpdateLooksAtLittle(t *testing.T) {
	before := &v1alpha1.JobFlow{}
	before.Spec.Flows = make([]v1alpha1.Flow, 10_000)
	before.Status.Finished, before.Status.Failed = "0-4998,5001", "5003"
	after := before.DeepCopy()
	after.Status.Finished, after.Status.Failed = "0-5001", ""
	require.Equal(t, []int{4999, 5000, 5003}, Update(Of(before), nil, before, after))
}
