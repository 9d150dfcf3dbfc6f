package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNodePerItem: where an item is used in a place in which Kubernetes replaces no variables, each item has a node.
func TestNodePerItem(t *testing.T) {
	const end = `, arguments: {parameters: [{name: x, value: "{{item}}"}]}`
	for each, want := range map[string][]string{
		`withItems: ["3.12", 3, true]`:              {"3.12", "3", "true"},
		`withParam: '["a", 12345678901234567890]'`:  {"a", "12345678901234567890"},
		`withSequence: {count: 2, format: "v%02d"}`: {"v00", "v01"},
		`withItems: [one]`:                          {"one"},
	} {
		flow, notes := flowOf(t, "", "  - {name: main, steps: [[{name: a, template: image, "+each+end+"}]]}\n"+
			"  - {name: image, inputs: {parameters: [{name: x}]}, metadata: {labels: {x: \"{{inputs.parameters.x}}\"}}, timeout: \"10m\", script: {image: \"python:{{inputs.parameters.x}}\", command: [sh], source: \"$({{inputs.parameters.x}})\"}}\n")
		require.Len(t, flow.Spec.Flows, len(want), each)
		for i, item := range want {
			node := nodeNamed(t, flow, fmt.Sprintf("a-%d", i))
			assert.Nil(t, node.ForEach)
			assert.Equal(t, "python:"+item, node.JobTemplate.Template.Spec.Containers[0].Image)
			assert.Equal(t, map[string]string{"x": item}, node.JobTemplate.Template.Labels)
			assert.Equal(t, "$$("+item+")", node.JobTemplate.Template.Spec.Containers[0].Command[2])
		}
		assert.Contains(t, strings.Join(notes, "\n"), "each item")
	}
}

// TestItemWithReference: Kubernetes replaces variables in an item that is in a command, as in Argo.
func TestItemWithReference(t *testing.T) {
	flow, _ := flowOf(t, "", "  - {name: main, steps: [[{name: a, template: run, withItems: [\"$(B)\", $C], arguments: {parameters: [{name: x, value: \"{{item}}\"}]}}]]}\n")
	require.Len(t, flow.Spec.Flows, 2)
	assert.Equal(t, []string{"echo", "$(B)"}, flow.Spec.Flows[0].JobTemplate.Template.Spec.Containers[0].Command)
}

// TestItemOfManyJobs: an item that is in a variable everywhere it is needed has no node of its own, also as an expression.
func TestItemOfManyJobs(t *testing.T) {
	flow, _ := flowOf(t, "", "  - {name: main, steps: [[{name: a, template: run, withItems: [x, z], arguments: {parameters: [{name: x, value: \"{{=item}} {{ item }}\"}]}}]]}\n")
	require.Len(t, flow.Spec.Flows, 1)
	assert.Equal(t, []string{"x", "z"}, flow.Spec.Flows[0].ForEach.Items)
	assert.Equal(t, []string{"echo", "$(ITEM) $(ITEM)"}, flow.Spec.Flows[0].JobTemplate.Template.Spec.Containers[0].Command)
}

// TestGatedItems: one gate is before all nodes of a task.
func TestGatedItems(t *testing.T) {
	flow, _ := flowOf(t, "", "  - {name: main, steps: [[{name: a, template: bad, withItems: [x, \"y\"]}]]}\n  - {name: bad, container: {image: \"{{item}}\", args: [\"{{workflow.uid}}\"]}}\n")
	require.Len(t, flow.Spec.Flows, 3)
	assert.Equal(t, "a-gate", flow.Spec.Flows[0].Name)
	assert.Empty(t, run(t, flow, func(string) string { return "succeeded" }))
}

// TestItemsInFinally: an exit handler has a node for each item, too.
func TestItemsInFinally(t *testing.T) {
	flow, _ := flowOf(t, "  onExit: bye\n", "  - {name: main, container: {image: i}}\n  - {name: bye, steps: [[{name: a, template: image, withItems: [x, \"y\"]}]]}\n"+
		"  - {name: image, container: {image: \"{{item}}\", args: [\"{{workflow.status}}\"]}}\n")
	require.Len(t, flow.Spec.Finally, 2)
	assert.Equal(t, "y", flow.Spec.Finally[1].JobTemplate.Template.Spec.Containers[0].Image)
	assert.Equal(t, []string{"$(FLOW_STATUS)"}, flow.Spec.Finally[1].JobTemplate.Template.Spec.Containers[0].Args)
}

// TestAllowedFailuresOfItems: each node of a task that may fail is one that may.
func TestAllowedFailuresOfItems(t *testing.T) {
	flow, notes := flowOf(t, "", "  - name: main\n    dag:\n      failFast: false\n      tasks:\n      - {name: a, template: image, withItems: [x, \"y\"], continueOn: {failed: true}}\n      - {name: b, template: run, dependencies: [a]}\n"+
		"  - {name: image, container: {image: \"{{item}}\"}}\n")
	assert.True(t, flow.Spec.Flows[0].AllowFailure)
	assert.True(t, flow.Spec.Flows[1].AllowFailure)
	assert.NotContains(t, fmt.Sprint(notes), "is Failed")
	assert.Equal(t, map[string]string{"a-0": "failed", "a-1": "succeeded", "b": "succeeded"}, run(t, flow, func(node string) string {
		return map[bool]string{true: "failed", false: "succeeded"}[node == "a-0"]
	}))
}

// TestNoItems: a task whose withItems is empty is run once, as in Argo, and has an output. Other lists that are empty run nothing.
func TestNoItems(t *testing.T) {
	flow, _ := flowOf(t, "", `
  - name: main
    dag:
      tasks:
      - {name: a, template: run, withItems: []}
      - {name: b, template: run, depends: a, arguments: {parameters: [{name: x, value: "{{tasks.a.outputs.result}}"}]}}
      - {name: c, template: run, withParam: "[]"}
      - {name: d, template: nested, withItems: []}
  - name: nested
    dag: {tasks: [{name: e, template: run}]}
`)
	assert.Equal(t, "succeeded", run(t, flow, func(string) string { return "succeeded" })["d-e"])
	assert.Nil(t, nodeNamed(t, flow, "a").ForEach)
	assert.Equal(t, "a", nodeNamed(t, flow, "b").Inputs[0].From)
	each := nodeNamed(t, flow, "c").ForEach
	require.NotNil(t, each)
	assert.Empty(t, each.Items)
	ran := run(t, flow, func(string) string { return "succeeded" })
	assert.Equal(t, "succeeded", ran["b"])
}
