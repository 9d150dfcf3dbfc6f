package jobflow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// asWrittenBefore gives a flow the status that an earlier version would have written.
func (s *stepper) asWrittenBefore(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(s.flow)
	require.NoError(t, err)
	former := strings.NewReplacer(`"nodeDigests":`, `"marks":`, `"digest":`, `"of":`).Replace(string(text))
	require.NotEqual(t, string(text), former)
	s.flow = &v1alpha1.JobFlow{}
	require.NoError(t, json.Unmarshal([]byte(former), s.flow))
}

// requireNewNames fails if the status still has fields under their former names.
func (s *stepper) requireNewNames(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(s.flow)
	require.NoError(t, err)
	require.NotRegexp(t, `"(marks|of)":`, string(text))
}

// What had ended under an earlier version doesn't run again, although its Jobs are gone and the flows are reordered.
func TestAFlowUnderWayOfAnEarlierVersion(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"))}
	s.step()
	s.step(completeJob("a"))
	s.asWrittenBefore(t)
	s.edit(func(f *v1alpha1.JobFlow) {
		f.Spec.Flows = []v1alpha1.Flow{node("new"), f.Spec.Flows[1], f.Spec.Flows[0]}
	})
	assert.Equal(t, []string{"demo-new"}, started(s.step(runningJob("b"))))
	assert.Equal(t, v1alpha1.FlowSucceed, states(s.flow)["a"])
	s.requireNewNames(t)
	s.step(completeJob("new"), completeJob("b"))
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
}

// Items that had succeeded under an earlier version don't run again, and the list is recognised.
func TestItemsOfAnEarlierVersion(t *testing.T) {
	s := &stepper{flow: makeFlow(each("fan", "x", "y"))}
	s.step()
	s.step(item("fan", 0, completeJob), item("fan", 1, runningJob))
	s.asWrittenBefore(t)
	assert.Empty(t, started(s.step(item("fan", 1, runningJob))))
	assert.Equal(t, "1 of 2 items succeeded", detailOf(s.flow, "fan").Message)
	s.requireNewNames(t)
}

// A flow that has ended gets the new names, too, so that a retry finds them in any later version.
func TestAFlowThatEndedUnderAnEarlierVersion(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), each("fan", "x", "y"))}
	s.step()
	s.step(completeJob("a"), item("fan", 0, completeJob), item("fan", 1, failedJob))
	require.NotNil(t, s.flow.Status.CompletionTime)
	s.asWrittenBefore(t)
	before := s.flow.DeepCopy()
	s.step()
	s.requireNewNames(t)
	assert.Equal(t, before.Status.NodeDigests, s.flow.Status.NodeDigests)
	assert.NotEmpty(t, before.Status.Items[0].Of, "the plan doesn't change the flow that it is given")
	assert.Nil(t, s.step().Status)

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 1 })
	s.step()
	assert.Equal(t, []string{"demo-fan-1-r1"}, started(s.step()), "item 0 has succeeded")
}
