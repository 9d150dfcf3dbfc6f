package convert

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// flowOf returns the JobFlow that is made of a Workflow with these templates, of which the first is where it starts.
func flowOf(t require.TestingT, spec, templates string) (*v1alpha1.JobFlow, []string) {
	result, notes := converted(t, "f", []byte("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  entrypoint: main\n"+
		spec+"  templates:\n  - {name: run, inputs: {parameters: [{name: x, default: d}]}, container: {image: \"busybox:1.28\", command: [echo, \"{{inputs.parameters.x}}\"]}}\n"+templates))
	isWell(t, result)
	flow := &v1alpha1.JobFlow{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(result), flow))
	return flow, notes
}

func nodeNamed(t require.TestingT, flow *v1alpha1.JobFlow, name string) v1alpha1.Flow {
	i := slices.IndexFunc(flow.Spec.Flows, func(f v1alpha1.Flow) bool { return f.Name == name })
	require.GreaterOrEqual(t, i, 0, "there is no node %s", name)
	return flow.Spec.Flows[i]
}

// TestWhen: a "when" is evaluated where it is constant, and carried over where it is about what came of others.
func TestWhen(t *testing.T) {
	for when, want := range map[string]string{
		`{{workflow.parameters.env}} == prod`:                                    "false",
		`{{workflow.parameters.env}} == staging`:                                 "",
		`"{{workflow.parameters.env}}" != "prod" && 3 > 2.5`:                     "",
		`{{workflow.parameters.num}} >= 4 || ({{workflow.parameters.num}} == 3)`: "",
		`!({{workflow.parameters.env}} == staging)`:                              "false",
		`'3' == 3`:                        "false",
		`true`:                            "",
		`{{tasks.p.status}} == Failed`:    "jobs.p.failed",
		`{{tasks.p.status}} != Succeeded`: "!jobs.p.succeeded",
		`{{tasks.p.status}} == Skipped`:   "false",
		`{{tasks.p.outputs.result}} == yes && {{workflow.parameters.num}} == 3`:  `jobs.p.output == "yes"`,
		`"{{tasks.p.outputs.result}}" == "a b" || {{tasks.p.status}} == "Error"`: `(jobs.p.output == "a b" || jobs.p.failed)`,
	} {
		flow, _ := flowOf(t, "  arguments: {parameters: [{name: env, value: staging}, {name: num, value: 3}]}\n", `
  - name: main
    dag:
      tasks:
      - {name: p, template: run}
      - {name: deploy, depends: p || p.Failed, template: run, when: '`+strings.ReplaceAll(when, "'", "''")+`'}
`)
		got := nodeNamed(t, flow, "deploy").When
		switch want {
		case "":
			assert.Equal(t, "jobs.p.succeeded || jobs.p.failed", got, when)
		case "false":
			assert.Equal(t, want, got, when)
		default:
			assert.Equal(t, "(jobs.p.succeeded || jobs.p.failed) && "+want, got, when)
		}
	}
}

// Parentheses in a text are no parentheses.
func TestParenthesesAroundAll(t *testing.T) {
	for text, want := range map[string]bool{
		"(a)": true, "(a) || (b)": false, "((a) || (b))": true,
		`(a == "(") || (b == ")")`: false, `(a == ")" || b)`: true, `(a == "\\\")" || b)`: true, `(a == "\\") || (b)`: false,
	} {
		assert.Equal(t, want, closes(text), text)
	}
	assert.Equal(t, "a || b", or(condition{text: "a"}, condition{text: "b"}).unwrapped())
	assert.Equal(t, "!(a || b)", not(or(condition{text: "a"}, condition{text: "b"})).unwrapped())
}

// TestNothingRunsThatWouldNot: what can't be carried over waits for someone to see to it, and is told of.
func TestNothingRunsThatWouldNot(t *testing.T) {
	const image = "  - {name: image, inputs: {parameters: [{name: x}]}, container: {image: \"python:{{inputs.parameters.x}}\"}}\n"
	for name, tt := range map[string]struct{ task, templates, says string }{
		"a when that isn't understood":  {`template: run, when: "{{=1 == 2}}"`, "", "tasks[1].when: not carried over: it can't be expressed in terms of jobs.<name>"},
		"arithmetic":                    {`template: run, when: "1 + 1 == 3"`, "", "isn't understood"},
		"a date":                        {`template: run, when: "'2020-01-01' == '2020-1-1'"`, "", "is a date"},
		"a task that doesn't come":      {`template: run, when: "{{tasks.q.status}} == Failed"`, "", "q doesn't come before"},
		"an approval":                   {`template: approve`, "  - {name: approve, suspend: {}}\n", "create one to approve"},
		"a resource":                    {`template: apply`, "  - {name: apply, resource: {action: apply}}\n", "it is no container"},
		"a container that is a number":  {`template: bad`, "  - {name: bad, container: 0}\n", "want a container; it is 0"},
		"a sidecar that is a text":      {`template: bad`, "  - {name: bad, container: {image: i}, sidecars: [x]}\n", "it is x"},
		"no such template":              {`template: none`, "", "there is no template of this name"},
		"another object's template":     {`templateRef: {name: a, template: b}`, "", "templates of other objects aren't looked for"},
		"itself":                        {`template: main`, "", "the template contains itself"},
		"a daemon":                      {`template: server`, "  - {name: server, daemon: true, container: {image: i}}\n", "a Job has to end by itself"},
		"items that are objects":        {`template: run, withItems: [{a: b}]`, "", "an item is a text"},
		"items of steps":                {`template: two, withItems: [a]`, "  - {name: two, steps: [[{name: s, template: run}]]}\n", "a forEach runs one Job an item"},
		"a parameter without a value":   {`template: run, arguments: {parameters: [{name: x, value: "{{workflow.parameters.none}}"}]}`, "", "{{workflow.parameters.none}} has no value here"},
		"an argument without a value":   {`template: run, arguments: {parameters: [{name: x}]}`, "", "{{inputs.parameters.x}} has no value here"},
		"an argument from a ConfigMap":  {`template: run, arguments: {parameters: [{name: x, valueFrom: {configMapKeyRef: {name: c, key: k}}}]}`, "", "{{inputs.parameters.x}} has no value here"},
		"an argument that is an object": {`template: run, arguments: {parameters: [{name: x, value: {a: b}}]}`, "", "{{inputs.parameters.x}} has no value here"},
		"an input from a ConfigMap": {`template: bad`,
			"  - {name: bad, inputs: {parameters: [{name: x, default: d, valueFrom: {configMapKeyRef: {name: c, key: k}}}]}, container: {image: i, command: [\"{{inputs.parameters.x}}\"]}}\n", "{{inputs.parameters.x}} has no value here"},
		"a when without a value":        {`template: run, when: "{{workflow.parameters.none}} != prod"`, "", "{{workflow.parameters.none}} has no value here"},
		"a target nobody knows":         {`template: bad`, "  - {name: bad, dag: {target: \"{{workflow.parameters.none}}\", tasks: [{name: a, template: run}]}}\n", "{{workflow.parameters.none}} has no value here"},
		"a target that isn't there":     {`template: bad`, "  - {name: bad, dag: {target: b, tasks: [{name: a, template: run}]}}\n", "there is no task b"},
		"an item that is null":          {`template: run, withItems: [null]`, "", "an item is a text"},
		"an item nobody knows":          {`template: run, withItems: ["{{workflow.uid}}"]`, "", "{{workflow.uid}} has no value here"},
		"an item that is an output":     {`template: run, withItems: ["{{tasks.first.outputs.result}}"]`, "", "{{tasks.first.outputs.result}} has no value here"},
		"items that are no list":        {`template: run, withItems: "{{workflow.parameters.none}}"`, "", "want a list"},
		"a list with an output":         {`template: run, withParam: '["{{tasks.first.outputs.result}}"]'`, "", "want a JSON list"},
		"a list with what nobody knows": {`template: run, withParam: '["{{workflow.uid}}"]'`, "", "want a JSON list"},
		"a list with null":              {`template: run, withParam: '[null]'`, "", "want a JSON list"},
		"a format nobody knows":         {`template: run, withSequence: {count: 2, format: "{{workflow.uid}}-%d"}`, "", "want numbers"},
		"a node's label":                {`template: bad`, "  - {name: bad, nodeSelector: {zone: \"{{workflow.uid}}\"}, container: {image: i}}\n", "nodeSelector.zone: not carried over: {{workflow.uid}} has no value here"},
		"the name of a node's label":    {`template: bad`, "  - {name: bad, nodeSelector: {\"{{workflow.uid}}\": a}, container: {image: i}}\n", "{{workflow.uid}} has no value here"},
		"a toleration":                  {`template: bad`, "  - {name: bad, tolerations: [{key: \"{{workflow.uid}}\"}], container: {image: i}}\n", "tolerations[0].key: not carried over"},
		"an affinity":                   {`template: bad`, "  - {name: bad, affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: \"{{workflow.uid}}\"}]}}, container: {image: i}}\n", "topologyKey: not carried over"},
		"an alias":                      {`template: bad`, "  - {name: bad, hostAliases: [{ip: \"{{workflow.uid}}\"}], container: {image: i}}\n", "hostAliases[0].ip: not carried over"},
		"a volume":                      {`template: bad`, "  - {name: bad, volumes: [{name: v, persistentVolumeClaim: {claimName: \"{{workflow.uid}}\"}}], container: {image: i}}\n", "claimName: not carried over"},
		"a context":                     {`template: bad`, "  - {name: bad, securityContext: {seLinuxOptions: {level: \"{{workflow.uid}}\"}}, container: {image: i}}\n", "level: not carried over"},
		"a service account":             {`template: bad`, "  - {name: bad, serviceAccountName: \"{{workflow.uid}}\", container: {image: i}}\n", "serviceAccountName: not carried over"},
		"a deadline":                    {`template: bad`, "  - {name: bad, activeDeadlineSeconds: \"{{workflow.uid}}\", container: {image: i}}\n", "activeDeadlineSeconds: not carried over"},
		"an image that is an output":    {`template: image, arguments: {parameters: [{name: x, value: "{{tasks.first.outputs.result}}"}]}`, image, "the output of first is known only during the run"},
		"images of an output":           {`template: image, withParam: "{{tasks.first.outputs.result}}", arguments: {parameters: [{name: x, value: "{{item}}"}]}`, image, "{{item}} is known only during the run"},
		"many images":                   {`template: image, withSequence: {count: 1000}, arguments: {parameters: [{name: x, value: "{{item}}"}]}`, image, "{{item}} is known only during the run"},
		"a volume that is an output":    {`template: bad, arguments: {parameters: [{name: x, value: "{{tasks.first.outputs.result}}"}]}`, "  - {name: bad, inputs: {parameters: [{name: x}]}, volumes: [{name: v, persistentVolumeClaim: {claimName: \"{{inputs.parameters.x}}\"}}], container: {image: i}}\n", "claimName: not carried over: the output of first is known only during the run"},
		"a container with an ITEM of its own": {`template: bad, withParam: "{{tasks.first.outputs.result}}"`,
			"  - {name: bad, container: {image: i, env: [{name: ITEM, value: \"{{item}}\"}]}}\n", "env: not carried over: the container sets ITEM itself"},
		"a list nobody knows":           {`template: run, withParam: "{{workflow.uid}}"`, "", "want a JSON list"},
		"an argument nobody knows":      {`template: run, arguments: {parameters: [{name: x, value: "{{workflow.uid}}"}]}`, "", "{{workflow.uid}} has no value here"},
		"an outcome without equivalent": {`template: run, depends: first.AnySucceeded`, "", "first.AnySucceeded has no counterpart"},
		"an expression with braces": {`template: run, arguments: {parameters: [{name: x, value: "{{=filter([1, 2], {# > 1})}}"}]}`, "",
			"{{=filter([1, 2], {# > 1})}} has no value here"},
		"an item in an expression": {
			`template: run, withItems: [1], arguments: {parameters: [{name: x, value: "{{=filter([1], {# > {{item}} })}}"}]}`, "",
			"has no value here"},
		"a dependency with a comma": {`template: run, depends: "first.Succeeded, first.Failed"`, "",
			`depends: not carried over: ", first.Failed" isn't understood`},
		"a dependency with =":         {`template: run, depends: "first = first"`, "", `"= first" isn't understood`},
		"a dependency without an end": {`template: run, depends: "(first"`, "", "a parenthesis isn't closed"},
		"dependencies side by side":   {`template: run, depends: "first first"`, "", `"first" isn't understood`},
		"a list in depends":           {`template: run, depends: [first]`, "", "depends: not carried over: want a text"},
		"a text in dependencies":      {`template: run, dependencies: first`, "", "dependencies: not carried over: want a list of names"},
		"a number in dependencies":    {`template: run, dependencies: [first, 1]`, "", "dependencies: not carried over: want a list of names"},
		"a sequence of all numbers": {`template: run, withSequence: {start: -9223372036854775808, end: 9223372036854775807}`, "",
			"want numbers"},
		"a sequence past all numbers": {`template: run, withSequence: {start: 9223372036854775807, count: 5}`, "", "want numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			depends := ", depends: first"
			if strings.Contains(tt.task, "depends:") || strings.Contains(tt.task, "dependencies:") {
				depends = ""
			}
			flow, notes := flowOf(t, "  arguments: {parameters: [{name: none}]}\n", "  - name: main\n    dag:\n      tasks:\n      - {name: first, template: run}\n      - {name: deploy, "+tt.task+depends+"}\n      - {name: after, template: run, depends: deploy}\n"+tt.templates)
			require.Contains(t, strings.Join(notes, "\n"), tt.says)
			ran := run(t, flow, func(string) string { return "succeeded" })
			assert.Equal(t, "succeeded", ran["first"])
			delete(ran, "first")
			assert.Empty(t, ran, "nothing starts but what came before")
		})
	}
}

// TestBracesOfAScript: braces that Argo fills nothing into stay as they are.
func TestBracesOfAScript(t *testing.T) {
	const source = `print(f'{{"name": "{name}"}}, {{')`
	flow, notes := flowOf(t, "", "  - {name: main, steps: [[{name: a, template: s}]]}\n"+
		"  - name: s\n    container:\n      image: i\n      args:\n      - |-\n        "+source+"\n")
	assert.NotContains(t, strings.Join(notes, "\n"), "has no value here")
	assert.Equal(t, []string{source}, nodeNamed(t, flow, "a").JobTemplate.Template.Spec.Containers[0].Args)
}

// TestRetryLimit: a limit that is no whole number is no limit.
func TestRetryLimit(t *testing.T) {
	flow, notes := flowOf(t, "", "  - {name: main, steps: [[{name: a, template: wrong}, {name: b, template: right}]]}\n"+
		"  - {name: wrong, retryStrategy: {limit: 3x}, container: {image: i}}\n"+
		"  - {name: right, retryStrategy: {limit: \"3\"}, container: {image: i}}\n")
	assert.Nil(t, nodeNamed(t, flow, "a").JobTemplate.BackoffLimit)
	assert.Contains(t, strings.Join(notes, "\n"), "spec.templates[2].retryStrategy.limit: not carried over: want a whole number")
	assert.Equal(t, new(int32(3)), nodeNamed(t, flow, "b").JobTemplate.BackoffLimit)
}

// TestTarget: only what a DAG's target needs is run.
func TestTarget(t *testing.T) {
	flow, notes := flowOf(t, "", "  - name: main\n    dag:\n      target: b\n      tasks:\n      - {name: a, template: run}\n      - {name: b, template: run, depends: a}\n      - {name: deploy, template: run, depends: b}\n")
	assert.Len(t, flow.Spec.Flows, 2)
	assert.Contains(t, strings.Join(notes, "\n"), "the DAG's target doesn't need it")
}

// TestSidecar: a Job whose pod has a sidecar ends when the main container does.
func TestSidecar(t *testing.T) {
	flow, _ := flowOf(t, "", "  - {name: main, container: {image: i, volumeMounts: [{name: v, mountPath: /v}]}, volumes: [{name: v, emptyDir: {}}], initContainers: [{name: first, image: i}], sidecars: [{name: proxy, image: p, mirrorVolumeMounts: true}], timeout: 10m}\n")
	job := nodeNamed(t, flow, "main").JobTemplate
	pod := job.Template.Spec
	require.Len(t, pod.Containers, 1)
	require.Len(t, pod.InitContainers, 2)
	assert.Nil(t, pod.InitContainers[0].RestartPolicy)
	require.NotNil(t, pod.InitContainers[1].RestartPolicy)
	assert.EqualValues(t, "Always", *pod.InitContainers[1].RestartPolicy)
	assert.Equal(t, "/v", pod.InitContainers[1].VolumeMounts[0].MountPath)
	assert.EqualValues(t, 600, *job.ActiveDeadlineSeconds)
}

// TestExitHandlers: those of a workflow are in finally, those of a task come after it, whatever came of it.
func TestExitHandlers(t *testing.T) {
	flow, _ := flowOf(t, "  onExit: bye\n", `
  - {name: main, dag: {tasks: [{name: a, template: run, onExit: run}, {name: b, template: run, depends: a}]}}
  - {name: bye, steps: [[{name: alarm, template: run, when: "{{workflow.status}} != Succeeded"}, {name: log, template: run, arguments: {parameters: [{name: x, value: "{{workflow.status}}"}]}}]]}
`)
	require.Len(t, flow.Spec.Finally, 2)
	assert.Equal(t, `!(state == "Succeed")`, flow.Spec.Finally[0].When)
	assert.Equal(t, []string{"echo", "$(FLOW_STATUS)"}, flow.Spec.Finally[1].JobTemplate.Template.Spec.Containers[0].Command)
	ran := run(t, flow, func(name string) string { return map[bool]string{true: "failed", false: "succeeded"}[name == "a"] })
	assert.Equal(t, map[string]string{"a": "failed", "a-exit": "succeeded", "b": "skipped"}, ran)
}

// run runs a flow as its operator does: what comes of each node that starts is given. What waits for a JobTemplate isn't in
// the result, and neither is what waits for that.
func run(t require.TestingT, flow *v1alpha1.JobFlow, outcomeOf func(node string) string) map[string]string {
	env, err := cel.NewEnv(cel.Variable("jobs", cel.DynType))
	require.NoError(t, err)
	ended := map[string]string{}
	for changed := true; changed; {
		changed = false
		allowed := map[string]bool{}
		for _, node := range flow.Spec.Flows {
			allowed[node.Name] = node.AllowFailure
			if ended[node.Name] != "" || strings.Contains(node.JobTemplateRef, "-gate") || slices.ContainsFunc(node.Dependencies, func(d string) bool { return ended[d] == "" }) {
				continue
			}
			jobs := map[string]any{}
			starts := true
			for _, d := range node.Dependencies {
				starts = starts && (ended[d] == "succeeded" || ended[d] == "failed" && allowed[d])
				jobs[d] = map[string]any{"succeeded": ended[d] == "succeeded", "failed": ended[d] == "failed", "skipped": ended[d] == "skipped", "output": ""}
			}
			if node.When != "" {
				ast, issues := env.Compile(node.When)
				require.NoError(t, issues.Err())
				program, err := env.Program(ast)
				require.NoError(t, err)
				value, _, err := program.Eval(map[string]any{"jobs": jobs})
				require.NoError(t, err)
				starts = value.Value() == true
			}
			ended[node.Name], changed = "skipped", true
			if starts {
				ended[node.Name] = outcomeOf(node.Name)
			}
		}
	}
	return ended
}

// argoTask is a task of a workflow that is generated, and what Argo makes of it.
type argoTask struct {
	name     string
	on       []string // "a", or "a.Failed"
	any      bool     // one of on is enough
	when     string
	goesOn   bool
	nested   bool
	items    []string // what comes of each item, if there are some
	runs     string   // what comes of it, if it starts
	has      string   // what came of it
	children []*argoTask
}

func (a *argoTask) yaml() string {
	text := "{name: " + a.name + ", template: run"
	if a.nested {
		text = "{name: " + a.name + ", template: in-" + a.name
	}
	if len(a.items) > 0 {
		text = "{name: " + a.name + ", template: image, withSequence: {count: " + fmt.Sprint(len(a.items)) + "}"
	}
	if len(a.on) > 0 {
		text += fmt.Sprintf(", depends: %q", strings.Join(a.on, map[bool]string{true: " || ", false: " && "}[a.any]))
	}
	if a.when != "" {
		text += fmt.Sprintf(", when: %q", a.when)
	}
	if a.goesOn {
		text += ", continueOn: {failed: true}"
	}
	return text + "}"
}

// argoDAG gives tasks the phases that Argo gives them: https://argo-workflows.readthedocs.io/en/latest/enhanced-depends-logic/.
func argoDAG(tasks []*argoTask, params map[string]string) {
	of := map[string]*argoTask{}
	for _, a := range tasks { // in the order of their dependencies
		of[a.name] = a
		starts := !a.any || len(a.on) == 0
		for _, on := range a.on {
			name, phase, cut := strings.Cut(on, ".")
			dependency := of[name]
			holds := dependency.has == phase
			if !cut {
				holds = dependency.has == "Succeeded" || dependency.has == "Skipped" || dependency.goesOn && dependency.has == "Failed"
			}
			if a.any {
				starts = starts || holds
			} else {
				starts = starts && holds
			}
		}
		condition := true
		switch left, right, _ := strings.Cut(a.when, " == "); {
		case strings.HasPrefix(left, "{{tasks."):
			condition = of[strings.TrimSuffix(strings.TrimPrefix(left, "{{tasks."), ".status}}")].has == right
		case left != "":
			condition = params[left] == right
		}
		switch {
		case !starts:
			a.has = "Omitted"
		case !condition:
			a.has = "Skipped"
		default:
			a.has = a.runs
			if a.nested {
				argoDAG(a.children, params)
				a.has = "Succeeded"
				for _, child := range a.children {
					if child.has == "Failed" {
						a.has = "Failed" // the children are a chain: what fails is the last that ran
					}
				}
			}
		}
	}
}

// leaves returns the phases of the tasks that are containers, by the names of their nodes.
func leaves(tasks []*argoTask, prefix string, into map[string]string, within string) {
	for _, a := range tasks {
		has := a.has
		if within != "" {
			has = within
		}
		if a.nested {
			without := ""
			if has == "Skipped" || has == "Omitted" {
				without = "Omitted"
			}
			leaves(a.children, prefix+a.name+"-", into, without)
			continue
		}
		outcome := map[string]string{"Succeeded": "succeeded", "Failed": "failed", "Skipped": "skipped", "Omitted": "skipped"}
		if len(a.items) == 0 {
			into[prefix+a.name] = outcome[has]
		}
		for i, item := range a.items {
			into[fmt.Sprintf("%s%s-%d", prefix, a.name, i)] = outcome[has]
			if has == "Succeeded" || has == "Failed" {
				into[fmt.Sprintf("%s%s-%d", prefix, a.name, i)] = outcome[item]
			}
		}
	}
}

// TestRunsAsArgo: whatever the order, the conditions and what fails, the flow runs what the workflow does, after the same.
func TestRunsAsArgo(t *testing.T) {
	params := map[string]string{"{{workflow.parameters.x}}": "it"}
	rapid.Check(t, func(t *rapid.T) {
		fails := func() string { return rapid.SampledFrom([]string{"Succeeded", "Succeeded", "Failed"}).Draw(t, "runs") }
		var tasks []*argoTask
		for i := range rapid.IntRange(1, 7).Draw(t, "tasks") {
			a := &argoTask{name: fmt.Sprintf("t%d", i), runs: fails(), nested: rapid.IntRange(0, 3).Draw(t, "nested") == 0,
				any: rapid.Bool().Draw(t, "any"), goesOn: rapid.IntRange(0, 4).Draw(t, "goes on") == 0}
			for _, other := range tasks {
				if rapid.Bool().Draw(t, "depends") {
					a.on = append(a.on, other.name+rapid.SampledFrom([]string{"", "", ".Succeeded", ".Failed", ".Skipped", ".Omitted"}).Draw(t, "phase"))
				}
			}
			a.when = rapid.SampledFrom([]string{"", "", "{{workflow.parameters.x}} == it", "{{workflow.parameters.x}} == other", "status"}).Draw(t, "when")
			if a.when == "status" {
				a.when = ""
				if len(a.on) > 0 {
					name, _, _ := strings.Cut(a.on[0], ".")
					a.when = "{{tasks." + name + ".status}} == " + rapid.SampledFrom([]string{"Succeeded", "Failed", "Skipped", "Omitted"}).Draw(t, "status")
				}
			}
			if a.nested {
				a.children = []*argoTask{{name: "a", runs: fails()}, {name: "b", runs: fails(), on: []string{"a"}}}
				if rapid.Bool().Draw(t, "condition within") {
					a.children[1].when = "{{workflow.parameters.x}} == other"
				}
			}
			if !a.nested && rapid.IntRange(0, 3).Draw(t, "has items") == 0 {
				a.runs = "Succeeded"
				for range rapid.IntRange(1, 3).Draw(t, "items") {
					a.items = append(a.items, fails())
					if a.items[len(a.items)-1] == "Failed" {
						a.runs = "Failed"
					}
				}
			}
			tasks = append(tasks, a)
		}
		argoDAG(tasks, params)
		want := map[string]string{}
		leaves(tasks, "", want, "")
		fate := map[string]string{}
		templates := "  - name: main\n    dag:\n      failFast: false\n      tasks:\n"
		inner := "  - {name: image, container: {image: \"i:{{item}}\"}}\n"
		for _, a := range tasks {
			templates += "      - " + a.yaml() + "\n"
			fate[a.name] = strings.ToLower(a.runs)
			for i, item := range a.items {
				fate[fmt.Sprintf("%s-%d", a.name, i)] = strings.ToLower(item)
			}
			if a.nested {
				inner += "  - {name: in-" + a.name + ", dag: {tasks: [" + a.children[0].yaml() + ", " + a.children[1].yaml() + "]}}\n"
				for _, child := range a.children {
					fate[a.name+"-"+child.name] = strings.ToLower(child.runs)
				}
			}
		}
		flow, _ := flowOf(t, "  arguments: {parameters: [{name: x, value: it}]}\n", templates+inner)
		got := run(t, flow, func(node string) string { return fate[node] })
		if !assert.ObjectsAreEqual(want, got) {
			text, _ := yaml.Marshal(flow.Spec.Flows)
			t.Fatalf("Argo: %v\nhere: %v\n%s%s\n%s", want, got, templates, inner, text)
		}
	})
}

// A task that may fail is a node that may, and the flow succeeds as the workflow does: nothing is to be said of it. Of a DAG that may
// fail each node's failure fails the flow, which is said.
func TestAllowedFailures(t *testing.T) {
	templates := func(what string) string {
		return "  - name: main\n    dag:\n      failFast: false\n      tasks:\n      - {name: a, template: " + what + ", continueOn: {failed: true}}\n      - {name: b, template: run, dependencies: [a]}\n" +
			"      - {name: c, template: run, depends: a.Succeeded}\n" +
			"  - {name: inner, dag: {tasks: [{name: x, template: run}]}}\n"
	}
	flow, notes := flowOf(t, "", templates("run"))
	assert.True(t, flow.Spec.Flows[0].AllowFailure)
	assert.False(t, flow.Spec.Flows[1].AllowFailure)
	assert.NotContains(t, fmt.Sprint(notes), "is Failed")
	assert.Equal(t, map[string]string{"a": "failed", "b": "succeeded", "c": "skipped"}, run(t, flow, func(node string) string {
		return map[string]string{"a": "failed", "b": "succeeded", "c": "succeeded"}[node]
	}))

	flow, notes = flowOf(t, "", templates("inner"))
	assert.False(t, flow.Spec.Flows[0].AllowFailure)
	assert.Contains(t, fmt.Sprint(notes), "is Failed")
}
