package convert

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// expanded is what the kubelet makes of a text of a command: third_party/forked/golang/expansion of Kubernetes.
func expanded(text string, vars map[string]string) string {
	var b strings.Builder
	for text != "" {
		before, after, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			break
		}
		name, rest, closed := strings.Cut(strings.TrimPrefix(after, "("), ")")
		switch {
		case strings.HasPrefix(after, "$"):
			b.WriteString("$")
			text = after[1:]
		case strings.HasPrefix(after, "(") && closed:
			value, known := vars[name]
			if !known {
				value = "$(" + name + ")"
			}
			b.WriteString(value)
			text = rest
		default:
			b.WriteString("$")
			text = after
		}
	}
	return b.String()
}

// texts are made of what matters to Kubernetes, to Argo and to shells.
func texts(more ...string) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(append([]string{"$", "$$", "(", ")", "$(", "$(A)", "a", " ", "é"}, more...)), 0, 12), func(parts []string) string {
		return strings.Join(parts, "")
	})
}

// itemFlow makes a flow of a task for each of an output's items, in whose template the item is {{inputs.parameters.x}}.
func itemFlow(t require.TestingT, template map[string]any) v1alpha1.Flow {
	template["name"] = "each"
	template["inputs"] = map[string]any{"parameters": []any{map[string]any{"name": "x"}, map[string]any{"name": "fixed"}}}
	text, err := yaml.Marshal([]any{template})
	require.NoError(t, err)
	flow, notes := flowOf(t, "", `
  - name: main
    dag:
      tasks:
      - {name: list, template: run}
      - {name: items, template: each, depends: list, withParam: "{{tasks.list.outputs.result}}", arguments: {parameters: [{name: x, value: "{{item}}"}, {name: fixed, value: "$$(A)$"}]}}
  `+strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  ")+"\n")
	require.NotContains(t, strings.Join(notes, "\n"), "gate")
	return nodeNamed(t, flow, "items")
}

// TestScriptsAreRunAsTheyAre: Argo writes a script into a file, in which Kubernetes replaces nothing. What the container gets is the
// same text, with the values of the variables that are ours.
func TestScriptsAreRunAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, item := texts("{{inputs.parameters.x}}", "{{inputs.parameters.fixed}}").Draw(t, "source"), texts().Draw(t, "item")
		node := itemFlow(t, map[string]any{"script": map[string]any{"image": "i", "command": []any{"sh"}, "source": source}})
		command := node.JobTemplate.Template.Spec.Containers[0].Command
		want := strings.NewReplacer("{{inputs.parameters.x}}", item, "{{inputs.parameters.fixed}}", "$$(A)$").Replace(source)
		require.Equal(t, want, expanded(command[len(command)-1], map[string]string{"ITEM": item, "A": "a variable"}), command)
	})
}

// TestCommandsAreExpandedAsBefore: Argo hands a container's texts on, in which Kubernetes replaces variables. It does so in ours, and
// an item is in the same place. Only an empty item that joins a $ with what follows it isn't alike, as nobody knows it before the run.
func TestCommandsAreExpandedAsBefore(t *testing.T) {
	joined := regexp.MustCompile(`(\$|fixed\}\})(\{\{inputs\.parameters\.x\}\})+(\$|\(|\{\{inputs\.parameters\.fixed)`)
	rapid.Check(t, func(t *rapid.T) {
		text := texts("{{inputs.parameters.x}}", "{{inputs.parameters.x}}", "{{inputs.parameters.fixed}}").Draw(t, "text")
		items := []string{"v", "a b", "/x", ""}
		if joined.MatchString(text) {
			items = items[:3]
		}
		item := rapid.SampledFrom(items).Draw(t, "item")
		node := itemFlow(t, map[string]any{"container": map[string]any{"image": "i", "args": []any{text}, "env": []any{map[string]any{"name": "B", "value": text}}}})
		container := node.JobTemplate.Template.Spec.Containers[0]
		want := expanded(strings.NewReplacer("{{inputs.parameters.x}}", item, "{{inputs.parameters.fixed}}", "$$(A)$").Replace(text), map[string]string{"A": "a variable"})
		for _, got := range []string{container.Args[0], container.Env[0].Value} {
			require.Equal(t, want, expanded(got, map[string]string{"ITEM": item, "A": "a variable"}), "%q", got)
		}
	})
}

// TestSubstitutionsOfShells: a variable isn't replaced between $( and ), so that the $( of a shell is escaped there, and only there.
func TestSubstitutionsOfShells(t *testing.T) {
	node := itemFlow(t, map[string]any{
		"container": map[string]any{"image": "i", "command": []any{"sh", "-c", "a=$(cat {{inputs.parameters.x}}) b=$(date) c=${{inputs.parameters.x}}"}},
	})
	assert.Equal(t, "a=$$(cat $(ITEM)) b=$(date) c=$$$(ITEM)", node.JobTemplate.Template.Spec.Containers[0].Command[2])
	node = itemFlow(t, map[string]any{"script": map[string]any{"image": "i", "command": []any{"sh"}, "source": "echo $$ $(date) {{inputs.parameters.x}}"}})
	assert.Equal(t, "echo $$$$ $$(date) $(ITEM)", node.JobTemplate.Template.Spec.Containers[0].Command[2])
}

// TestScriptArguments: Argo runs the command with the arguments and the script's file, so that options are before the script.
func TestScriptArguments(t *testing.T) {
	for script, want := range map[string][]string{
		`{image: i, command: [bash], args: [-eu], source: "echo $0"}`:                 {"bash", "-eu", "-c", "echo $$0"},
		`{image: i, command: [bash, -o], args: [pipefail], source: x}`:                {"bash", "-o", "pipefail", "-c", "x"},
		`{image: i, args: [-eu, "$(A)"], source: x}`:                                  {"sh", "-eu", "$(A)", "-c", "x"},
		`{image: i, command: [python], args: ["-W", "{{workflow.name}}"], source: x}`: {"python", "-W", "w", "-c", "x"},
	} {
		flow, notes := flowOf(t, "", "  - {name: main, script: "+script+"}\n")
		container := nodeNamed(t, flow, "main").JobTemplate.Template.Spec.Containers[0]
		assert.Equal(t, want, container.Command, script)
		assert.Empty(t, container.Args, script)
		assert.Equal(t, strings.Contains(script, "$(A)"), strings.Contains(strings.Join(notes, "\n"), "it is taken to run a script that follows -c"), script)
	}
}

// TestNamesOfVariables: a node's output has a name that Kubernetes takes, and that the container doesn't set itself.
func TestNamesOfVariables(t *testing.T) {
	flow, _ := flowOf(t, "", `
  - name: main
    dag:
      tasks:
      - {name: 1-list, template: run}
      - {name: b, template: two, depends: 1-list, arguments: {parameters: [{name: x, value: "{{tasks.1-list.outputs.result}}"}]}}
  - name: two
    inputs: {parameters: [{name: x}]}
    container: {image: i, args: ["{{inputs.parameters.x}}"], env: [{name: _1_LIST_OUTPUT, value: mine}]}
`)
	node := nodeNamed(t, flow, "b")
	assert.Equal(t, []v1alpha1.Input{{Env: "_1_LIST_OUTPUT_2", From: "1-list"}}, node.Inputs)
	assert.Equal(t, []string{"$(_1_LIST_OUTPUT_2)"}, node.JobTemplate.Template.Spec.Containers[0].Args)
}

// TestVariablesOutsideOfCommands: the exit handler isn't run with the flow's status where no variable is replaced.
func TestVariablesOutsideOfCommands(t *testing.T) {
	for _, template := range []string{
		"container: {image: \"i:{{workflow.status}}\"}", "container: {image: i, workingDir: \"/{{workflow.status}}\"}", "serviceAccountName: \"{{workflow.status}}\", container: {image: i}",
		"container: {image: i, args: [\"{{workflow.status}}\"], env: [{name: FLOW_STATUS, value: x}]}",
		"container: {image: i}, sidecars: [{name: s, image: \"i:{{workflow.status}}\"}]",
	} {
		flow, notes := flowOf(t, "  onExit: bye\n", "  - {name: main, container: {image: i}}\n  - {name: bye, "+template+"}\n")
		assert.Empty(t, flow.Spec.Finally, template)
		assert.Contains(t, strings.Join(notes, "\n"), "the exit handler isn't run", template)
	}
	flow, _ := flowOf(t, "  onExit: bye\n", "  - {name: main, container: {image: i}}\n  - {name: bye, container: {image: i, args: [\"{{workflow.status}}\"]}, sidecars: [{name: s, image: i, env: [{name: A, value: \"{{workflow.status}}\"}], volumeMounts: [{name: v, mountPath: /v, subPathExpr: \"{{workflow.status}}\"}]}], volumes: [{name: v, emptyDir: {}}]}\n")
	pod := flow.Spec.Finally[0].JobTemplate.Template.Spec
	assert.Equal(t, []string{"$(FLOW_STATUS)"}, pod.Containers[0].Args)
	assert.Equal(t, []corev1.EnvVar{{Name: "A", Value: "$(FLOW_STATUS)"}}, pod.InitContainers[0].Env)
	assert.Equal(t, "$(FLOW_STATUS)", pod.InitContainers[0].VolumeMounts[0].SubPathExpr)
}
