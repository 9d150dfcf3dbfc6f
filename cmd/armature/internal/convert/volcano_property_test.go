package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// flowIn returns the JobFlow among converted documents.
func flowIn(t require.TestingT, result string) *v1alpha1.JobFlow {
	for part := range strings.SplitSeq(result, "---\n") {
		flow := &v1alpha1.JobFlow{}
		if strings.Contains(part, "kind: JobFlow\n") {
			require.NoError(t, yaml.UnmarshalStrict([]byte(part), flow))
			return flow
		}
	}
	require.Fail(t, "there is no JobFlow", result)
	return nil
}

// TestRunsAsVolcano: whatever waits for what, and whatever fails, the same tasks run after the same.
func TestRunsAsVolcano(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "flows")
		text, fate, want := "", map[string]string{}, map[string]string{}
		flows := "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\nspec:\n  flows:\n"
		completed := make([]bool, n)
		for i := range n {
			name := fmt.Sprintf("job-%d", i)
			var targets []string
			starts := true
			for j := range i {
				if rapid.Bool().Draw(t, "depends") {
					targets = append(targets, fmt.Sprintf("job-%d", j))
					starts = starts && completed[j]
				}
			}
			flows += "  - {name: " + name + ", dependsOn: {targets: [" + strings.Join(targets, ", ") + "]}}\n"
			var tasks []string
			count := rapid.IntRange(1, 3).Draw(t, "tasks")
			completed[i] = starts
			for k := range count {
				task := fmt.Sprintf("t%d", k)
				tasks = append(tasks, "{name: "+task+", replicas: "+fmt.Sprint(k+1)+", template: {spec: {containers: [{name: c, image: i}]}}}")
				node := name
				if count > 1 {
					node += "-" + task
				}
				fate[node] = rapid.SampledFrom([]string{"succeeded", "succeeded", "failed"}).Draw(t, "fate")
				want[node] = "skipped"
				if starts {
					want[node] = fate[node]
				}
				completed[i] = completed[i] && fate[node] == "succeeded"
			}
			text += "---\napiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: " + name + "}\nspec: {tasks: [" + strings.Join(tasks, ", ") + "]}\n"
		}
		result, _ := converted(t, "f", []byte(flows+text))
		isWell(t, result)
		require.Equal(t, want, run(t, flowIn(t, result), func(node string) string { return fate[node] }), result)
	})
}

// TestVolcanoPatch: a flow with a patch runs the template as it is patched, and no other flow does.
func TestVolcanoPatch(t *testing.T) {
	result, notes := converted(t, "f", []byte(`
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: f}
spec:
  flows:
  - {name: a, patch: {jobSpec: {queue: gold, ttlSecondsAfterFinished: 60, tasks: [{name: one, replicas: 3, template: {spec: {priorityClassName: high}}}]}}}
  - {name: b, patch: {jobSpec: {queue: x}}}
  - {name: c, patch: {jobSpec: {}}}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: a}
spec: {queue: default, tasks: [{name: one, replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}, {name: two, template: {spec: {containers: [{name: c, image: i}]}}}]}
`))
	isWell(t, result)
	flow := flowIn(t, result)
	one, two, b := nodeNamed(t, flow, "a-one"), nodeNamed(t, flow, "a-two"), nodeNamed(t, flow, "b")
	assert.Empty(t, one.JobTemplateRef)
	assert.EqualValues(t, 3, *one.JobTemplate.Completions)
	assert.Equal(t, "high", one.JobTemplate.Template.Spec.PriorityClassName)
	assert.Equal(t, "i", one.JobTemplate.Template.Spec.Containers[0].Image)
	assert.EqualValues(t, 60, *two.JobTemplate.TTLSecondsAfterFinished)
	assert.Equal(t, "b", b.JobTemplateRef)
	said := strings.Join(notes, "\n")
	assert.Contains(t, said, "spec.flows[0].patch.jobSpec.queue: not carried over")
	assert.Contains(t, said, "spec.flows[1].patch: not carried over")
	assert.Contains(t, result, "completions: 2", "the template itself stays")
}
