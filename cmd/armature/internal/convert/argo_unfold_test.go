package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// layered is a workflow with a DAG in which each task depends on all three of the layer before, and a task after the DAG. The first task
// has these further fields.
func layered(layers int, first string) string {
	var b strings.Builder
	b.WriteString(`apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: w}
spec:
  entrypoint: main
  templates:
  - name: run
    container: {image: "busybox:1.28"}
  - name: main
    dag:
      tasks:
      - {name: all, template: layers}
      - {name: after, template: run, dependencies: [all]}
  - name: layers
    dag:
      tasks:
`)
	for layer := range layers {
		for task := range 3 {
			fmt.Fprintf(&b, "      - {name: l%dk%d, template: run", layer, task)
			if layer > 0 {
				fmt.Fprintf(&b, ", dependencies: [l%[1]dk0, l%[1]dk1, l%[1]dk2]", layer-1)
			} else if task == 0 {
				b.WriteString(first)
			}
			b.WriteString("}\n")
		}
	}
	return b.String()
}

// The conditions of a DAG's tasks have a bounded length, although each contains those of all tasks before.
func TestConditionsOfALayeredDAGAreBounded(t *testing.T) {
	for _, first := range []string{"", ", continueOn: {failed: true}"} {
		docs, err := manifest.Parse("f", []byte(layered(10, first)))
		require.NoError(t, err)
		f := &argoFlow{root: newSource(docs[0]).root(), templates: map[string]field{}, names: map[string]bool{}, used: map[string]bool{},
			allowed: map[string]bool{}}
		for _, template := range f.root.get("spec", "templates").items() {
			f.templates[template.get("name").text()] = template
		}
		d := &dag{f: f, p: place{template: f.templates["layers"], start: atOnce()}, tasks: map[string]field{}, done: scope{},
			doing: map[string]bool{}, before: map[string][]string{}}
		for _, task := range d.p.template.get("dag", "tasks").items() {
			d.tasks[task.get("name").text()] = task
		}
		for name := range d.tasks {
			assert.LessOrEqual(t, len(d.do(name).bad.text), 5000, name)
		}
	}
}

// A task whose condition would be too long for a flow doesn't run by itself.
func TestATaskWithATooLongConditionIsGated(t *testing.T) {
	result, notes := converted(t, "f", []byte(layered(8, ", continueOn: {failed: true}")))
	isWell(t, result)
	assert.Contains(t, result, "name: after-gate\n")
	assert.Contains(t, strings.Join(notes, "\n"), "f:13:38: Workflow/w: spec.templates[1].dag.tasks[1].dependencies: not carried over: "+
		"the condition on which it starts is longer than a flow can have; after waits for the node after-gate")

	suspended := strings.Replace(layered(8, ", continueOn: {failed: true}"), "after, template: run", "after, inline: {suspend: {}}", 1)
	result, notes = converted(t, "f", []byte(suspended))
	isWell(t, result)
	assert.Contains(t, strings.Join(notes, "\n"), "longer than a flow can have; see to it before you create the JobTemplate after-gate")

	// What dependencies alone say has no length.
	var fan, names strings.Builder
	for i := range 90 {
		fmt.Fprintf(&fan, "      - {name: preprocess-the-shard-number-%d, template: run}\n", i)
		fmt.Fprintf(&names, "preprocess-the-shard-number-%d, ", i)
	}
	flow, said := flowOf(t, "", "  - name: main\n    dag:\n      tasks:\n"+fan.String()+
		"      - {name: after, template: run, dependencies: ["+names.String()+"]}\n")
	assert.Empty(t, said)
	assert.Len(t, nodeNamed(t, flow, "after").Dependencies, 90)

	result, notes = converted(t, "f", []byte(layered(30, "")))
	isWell(t, result)
	assert.NotContains(t, result, "gate")
	assert.Empty(t, notes)
}
