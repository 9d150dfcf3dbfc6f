package jobflow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// asWrittenBefore returns a flow with the status that an earlier version would have written.
func asWrittenBefore(t *testing.T, flow *v1alpha1.JobFlow) *v1alpha1.JobFlow {
	t.Helper()
	text, err := json.Marshal(flow)
	require.NoError(t, err)
	former := strings.NewReplacer(`"nodeDigests":`, `"marks":`, `"digest":`, `"of":`).Replace(string(text))
	require.NotEqual(t, string(text), former)
	flow = &v1alpha1.JobFlow{}
	require.NoError(t, json.Unmarshal([]byte(former), flow))
	return flow
}

// requireNewNames fails if the status still has fields under their former names.
func requireNewNames(t *testing.T, flow *v1alpha1.JobFlow) {
	t.Helper()
	text, err := json.Marshal(flow)
	require.NoError(t, err)
	require.NotRegexp(t, `"(marks|of)":`, string(text))
}

// What had ended under an earlier version doesn't run again, although its Jobs are gone and the flows are reordered.
func TestAFlowUnderWayOfAnEarlierVersion(t *testing.T) {
	flow := asWrittenBefore(t, after(makeFlow(node("a"), node("b", "a")), completeJob("a")))
	flow.Generation++
	flow.Spec.Flows = []v1alpha1.Flow{node("new"), flow.Spec.Flows[1], flow.Spec.Flows[0]}
	plan := planOf(flow, runningJob("b"))
	assert.Equal(t, []string{"demo-new"}, started(plan))
	assert.Equal(t, v1alpha1.FlowSucceed, states(plan.Status)["a"])
	requireNewNames(t, plan.Status)
	flow = after(plan.Status, completeJob("new"), completeJob("b"))
	assert.Equal(t, v1alpha1.StateSucceed, flow.Status.State)
}

// Items that had succeeded under an earlier version don't run again, and the list is recognised.
func TestItemsOfAnEarlierVersion(t *testing.T) {
	flow := asWrittenBefore(t, after(makeFlow(each("fan", "x", "y")), item("fan", 0, completeJob), item("fan", 1, runningJob)))
	plan := planOf(flow, item("fan", 1, runningJob))
	assert.Empty(t, started(plan))
	assert.Equal(t, "1 of 2 items succeeded", detailOf(plan.Status, "fan").Message)
	requireNewNames(t, plan.Status)
}

// A flow that has ended gets the new names, too, so that a retry finds them in any later version.
func TestAFlowThatEndedUnderAnEarlierVersion(t *testing.T) {
	flow := after(makeFlow(node("a"), each("fan", "x", "y")), completeJob("a"), item("fan", 0, completeJob), item("fan", 1, failedJob))
	require.NotNil(t, flow.Status.CompletionTime)
	former := asWrittenBefore(t, flow)
	flow = after(former)
	requireNewNames(t, flow)
	assert.Equal(t, former.Status.NodeDigests, flow.Status.NodeDigests)
	assert.NotEmpty(t, former.Status.Items[0].Of, "the plan doesn't change the flow that it is given")
	assert.Nil(t, planOf(flow).Status)

	flow.Spec.Retry, flow.Generation = 1, 2
	assert.Equal(t, []string{"demo-fan-1-r1"}, started(planOf(after(flow))), "item 0 has succeeded")
}
