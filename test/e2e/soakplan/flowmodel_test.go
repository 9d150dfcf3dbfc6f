package soakplan

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func flowOf(nodes ...v1alpha1.Flow) *v1alpha1.JobFlowSpec { return &v1alpha1.JobFlowSpec{Flows: nodes} }

func nodeOf(name string, of temper, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplate: jobOf(of, 0)}
}

func TestEndOfFlow(t *testing.T) {
	repair := nodeOf("repair", easy, "work")
	repair.When = "jobs.work.failed || jobs.work.skipped"
	for name, tc := range map[string]struct {
		spec *v1alpha1.JobFlowSpec
		end  End
		part map[string]Ends
	}{
		"all succeed": {flowOf(nodeOf("a", easy), nodeOf("b", flaky, "a")), Succeeded, map[string]Ends{"b": {PartSucceeded}}},
		"a failure skips what comes after": {
			flowOf(nodeOf("c", easy, "b"), nodeOf("b", easy, "a"), nodeOf("a", doomed)), Failed,
			map[string]Ends{"a": {PartFailed}, "b": {PartSkipped}, "c": {PartSkipped}},
		},
		"one that waits for a failure": {flowOf(nodeOf("work", doomed), repair), Failed, map[string]Ends{"repair": {PartSucceeded}}},
		"and is not needed":            {flowOf(nodeOf("work", easy), repair), Succeeded, map[string]Ends{"repair": {PartSkipped}}},
		"failFast may cut off others": {
			&v1alpha1.JobFlowSpec{FailFast: true, Flows: []v1alpha1.Flow{nodeOf("a", doomed), nodeOf("b", easy)}}, Failed,
			map[string]Ends{"b": {PartSucceeded, PartSkipped}},
		},
		"a retry runs again what failed": {
			&v1alpha1.JobFlowSpec{Retry: 1, Flows: []v1alpha1.Flow{nodeOf("a", mended), nodeOf("b", easy, "a")}}, Succeeded,
			map[string]Ends{"a": {PartSucceeded}, "b": {PartSucceeded}},
		},
	} {
		got := endOfFlow(tc.spec)
		assert.Equal(t, tc.end, got.End, name)
		for part, ends := range tc.part {
			assert.Equal(t, ends, got.Parts[part], "%s: %s", name, part)
		}
	}
}

func TestEndOfStoppedFlow(t *testing.T) {
	spec := flowOf(nodeOf("a", easy), nodeOf("endless", easy))
	spec.Finally = []v1alpha1.Flow{nodeOf("f", doomed)}
	got := endOfStoppedFlow(spec)
	assert.Equal(t, Failed, got.End)
	assert.Equal(t, map[string]Ends{
		"a": {PartSucceeded, PartFailed, PartSkipped}, "endless": {PartFailed, PartSkipped}, "f": {PartFailed},
	}, got.Parts)
}
