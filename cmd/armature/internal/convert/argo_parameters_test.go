package convert

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// TestPodFields: parameters are filled in wherever a template or the workflow has something of the pod, also in keys.
func TestPodFields(t *testing.T) {
	flow, notes := flowOf(t, `
  arguments: {parameters: [{name: zone, value: z1}, {name: key, value: example.com/disk}, {name: size, value: 12345678.5}]}
  imagePullSecrets: [{name: "pull-{{workflow.parameters.zone}}"}]
  tolerations: [{key: "{{workflow.parameters.key}}"}]
  hostAliases: [{ip: 10.0.0.1, hostnames: ["{{workflow.parameters.zone}}"]}]
  volumes: [{name: w, configMap: {name: "w-{{workflow.parameters.zone}}"}}]
`, `
  - name: main
    steps: [[{name: a, template: pod, arguments: {parameters: [{name: claim, value: "c-{{workflow.parameters.zone}}"}]}}]]
  - name: pod
    inputs: {parameters: [{name: claim}, {name: other, default: "o-{{workflow.parameters.zone}}"}]}
    nodeSelector: {"{{workflow.parameters.key}}": "{{workflow.parameters.zone}}"}
    hostAliases: [{ip: 10.0.0.2, hostnames: ["{{inputs.parameters.other}}"]}]
    securityContext: {seLinuxOptions: {level: "{{workflow.parameters.zone}}"}}
    volumes: [{name: v, persistentVolumeClaim: {claimName: "{{inputs.parameters.claim}}"}}]
    container: {image: i, args: ["{{workflow.parameters.size}}"]}
`)
	assert.Len(t, notes, 1, "nothing uses the template run")
	pod := nodeNamed(t, flow, "a").JobTemplate.Template.Spec
	assert.Equal(t, map[string]string{"example.com/disk": "z1"}, pod.NodeSelector)
	assert.Equal(t, "pull-z1", pod.ImagePullSecrets[0].Name)
	assert.Equal(t, "example.com/disk", pod.Tolerations[0].Key)
	assert.Equal(t, []corev1.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"z1"}}, {IP: "10.0.0.2", Hostnames: []string{"o-z1"}}}, pod.HostAliases)
	assert.Equal(t, "z1", pod.SecurityContext.SELinuxOptions.Level)
	require.Len(t, pod.Volumes, 2)
	assert.Equal(t, "c-z1", pod.Volumes[1].PersistentVolumeClaim.ClaimName)
	assert.Equal(t, "w-z1", pod.Volumes[0].ConfigMap.Name)
	assert.Equal(t, []string{"12345678.5"}, pod.Containers[0].Args, "a number is written as Argo does")
}

// TestWorkflowFieldWithoutValue: what the workflow says of all pods keeps all from running, if it isn't known.
func TestWorkflowFieldWithoutValue(t *testing.T) {
	flow, notes := flowOf(t, "  nodeSelector: {zone: \"{{workflow.uid}}\"}\n", "  - {name: main, steps: [[{name: a, template: run}]]}\n")
	assert.Contains(t, strings.Join(notes, "\n"), "spec.nodeSelector.zone: not carried over: {{workflow.uid}} has no value here")
	assert.Empty(t, run(t, flow, func(string) string { return "succeeded" }))
}

// TestMetadata: labels and annotations of pods are filled in. One that isn't known is left out and noted, and nothing waits for it.
func TestMetadata(t *testing.T) {
	flow, notes := flowOf(t, "", `
  - name: main
    steps:
    - - {name: a, template: pod}
    - - {name: b, template: pod, arguments: {parameters: [{name: x, value: "{{steps.a.outputs.result}}"}]}}
  - name: pod
    inputs: {parameters: [{name: x, default: d}]}
    metadata: {labels: {x: "{{inputs.parameters.x}}", "{{workflow.uid}}": u, z: "3"}, annotations: {pod: "{{pod.name}}"}}
    container: {image: i, args: ["{{inputs.parameters.x}}"]}
`)
	says := strings.Join(notes, "\n")
	assert.Contains(t, says, "metadata.annotations.pod: not carried over: {{pod.name}} has no value here")
	assert.Contains(t, says, "{{workflow.uid}} has no value here")
	assert.Contains(t, says, "metadata.labels.x: not carried over: the output of a is known only during the run")
	assert.Equal(t, map[string]string{"x": "d", "z": "3"}, nodeNamed(t, flow, "a").JobTemplate.Template.Labels)
	assert.Equal(t, map[string]string{"z": "3"}, nodeNamed(t, flow, "b").JobTemplate.Template.Labels)
	assert.Empty(t, nodeNamed(t, flow, "a").JobTemplate.Template.Annotations)
	assert.Len(t, run(t, flow, func(string) string { return "succeeded" }), 2)
}

// TestArgumentsOfTheWorkflow: the first template and the exit handlers get arguments as in Argo, not their defaults.
func TestArgumentsOfTheWorkflow(t *testing.T) {
	argument := func(f *require.Assertions, spec corev1.PodSpec) string {
		f.Len(spec.Containers[0].Command, 2)
		return spec.Containers[0].Command[1]
	}
	check := require.New(t)

	spec := "  arguments: {parameters: [{name: x, value: given}]}\n  onExit: run\n"
	flow, _ := flowOf(t, spec, "  - {name: main, inputs: {parameters: [{name: x, default: d}]}, container: {image: i, command: [echo, \"{{inputs.parameters.x}}\"]}}\n")
	check.Equal("given", argument(check, nodeNamed(t, flow, "main").JobTemplate.Template.Spec))
	check.Equal("given", argument(check, flow.Spec.Finally[0].JobTemplate.Template.Spec))

	flow, _ = flowOf(t, "  hooks: {exit: {template: run, arguments: {parameters: [{name: x, value: hook}]}}}\n", `
  - name: main
    dag:
      tasks:
      - {name: a, template: run, arguments: {parameters: [{name: x, value: a}]}, onExit: run}
      - {name: b, template: run, arguments: {parameters: [{name: x, value: b}]}, hooks: {exit: {template: run}}}
      - {name: c, template: run, hooks: {exit: {template: run, arguments: {parameters: [{name: x, value: "{{tasks.c.outputs.result}}"}]}}}}
      - {name: d, template: run, hooks: {exit: {template: run}}}
`)
	check.Equal("hook", argument(check, flow.Spec.Finally[0].JobTemplate.Template.Spec))
	for name, want := range map[string]string{"a-exit": "a", "b-exit": "b", "c-exit": "$(C_OUTPUT)", "d-exit": "d"} {
		check.Equal(want, argument(check, nodeNamed(t, flow, name).JobTemplate.Template.Spec), name)
	}

	flow, notes := flowOf(t, "  arguments: {parameters: [{name: x}]}\n", "  - {name: main, inputs: {parameters: [{name: x, default: d}]}, container: {image: \"{{inputs.parameters.x}}\"}}\n")
	check.Contains(strings.Join(notes, "\n"), "{{inputs.parameters.x}} has no value here")
	check.Empty(run(t, flow, func(string) string { return "succeeded" }))
}
