package jobflow

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// named compiles a flow of nodes of these names.
func named(names ...string) *compiled {
	var nodes []v1alpha1.Flow
	for _, name := range names {
		nodes = append(nodes, node(name))
	}
	return graphOf(nodes...)
}

// TestLedgerSurvivesEdits: whatever is added, taken out and reordered, a node that has run is recognized, and no other is
// taken for it.
func TestLedgerSurvivesEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []string
		for i := range rapid.IntRange(1, 60).Draw(t, "nodes") {
			all = append(all, fmt.Sprint("n", i))
		}
		drawNames := func(what string) []string {
			return rapid.Permutation(rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID[string]).Draw(t, what)).Draw(t, "order")
		}
		before := drawNames("before")
		if len(before) == 0 {
			return
		}
		c := named(before...)
		l := ledger{states: make([]state, len(before)), marks: make([]mark, len(before))}
		want := map[string]state{}
		for i, name := range before {
			l.states[i] = state(rapid.IntRange(int(pending), int(skipped)).Draw(t, "state"))
			if l.states[i].hasRun() {
				l.marks[i] = mark{c.hashes[i], uint32(i + 1)}
				want[name] = l.states[i]
			}
		}
		if rapid.Bool().Draw(t, "short marks") {
			l.width = shortMark
		}
		var status v1alpha1.JobFlowStatus
		l.write(&status)
		same := readLedger(&status, c, true)
		for i, s := range l.states {
			if s == running {
				s = pending // that is not on record
			}
			assert.Equal(t, s, same.states[i])
		}

		for range 3 { // some edits, one after another
			after := drawNames("after")
			c = named(after...)
			l := readLedger(&status, c, false)
			departed := len(want)
			for i, name := range after {
				assert.Equal(t, want[name], l.states[i], "%s: pending is one that hasn't run", name)
				if want[name] != pending {
					departed--
				}
			}
			assert.Len(t, l.states, len(after)+departed, "what has run and was taken out comes last")
			l.write(&status)
		}
	})
}

func TestLedgerIsNotMisledByAStatus(t *testing.T) {
	c := named("a", "b", "c")
	for _, status := range []v1alpha1.JobFlowStatus{
		{Finished: "0-99999999999999", NodeDigests: "AAAA"},
		{Finished: "x", Failed: "-", Skipped: "1-0"},
		{Finished: "0-1", NodeDigests: "not base64!"},
		{Finished: "0-1", Failed: "5"},
	} {
		assert.NotPanics(t, func() {
			l := readLedger(&status, c, false)
			assert.GreaterOrEqual(t, len(l.states), 3)
			l.write(&v1alpha1.JobFlowStatus{})
		})
	}
	l := readLedger(&v1alpha1.JobFlowStatus{Finished: "0-1", Failed: "1"}, c, true)
	assert.Equal(t, []state{succeeded, failed, pending}, l.states, "without marks by the index")
}

func TestDigestsTellWhatChanged(t *testing.T) {
	a := node("a", "x")
	b := node("a", "x")
	assert.Equal(t, digest(&a), digest(&b))
	b.Dependencies = nil
	b.When = "true"
	b.JobTemplate.Template.Spec.Containers[0].Image = "other"
	assert.ElementsMatch(t, []string{"dependencies", "when", "jobTemplate"}, changedFields(digest(&a), digest(&b)))
	assert.Empty(t, changedFields(digest(&a), digest(&a)))
	assert.Empty(t, changedFields("", ""))
	// Fixed: a release that hashed otherwise would take what it finds for changed.
	assert.Equal(t, "dependencies=ce4a9f33", digest(&v1alpha1.Flow{Dependencies: []string{"x"}}))
}
