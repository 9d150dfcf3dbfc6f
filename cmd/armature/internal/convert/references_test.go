package convert

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNamespaces: a JobFlow has the JobTemplates of its own namespace, a TrainJob the runtime. A manifest without a namespace goes with
// any.
func TestNamespaces(t *testing.T) {
	flowOf := func(namespace string) string {
		return "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f" + namespace + "}\nspec: {flows: [{name: t}]}\n---\n"
	}
	templateOf := func(namespace, tasks string) string {
		return "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: t" + namespace + "}\n" +
			"spec: {tasks: [" + tasks + "]}\n---\n"
	}
	const (
		x       = "{name: x, template: {spec: {containers: [{name: c, image: i}]}}}"
		y       = "{name: y, template: {spec: {containers: [{name: c, image: i}]}}}"
		missing = `the JobTemplate "t" is in none of the files`
	)
	result, _ := converted(t, "f", []byte(flowOf(", namespace: a")+templateOf(", namespace: a", x)+templateOf(", namespace: b", x+", "+y)))
	assert.Contains(t, result, "jobTemplateRef: t\n")
	for _, text := range []string{flowOf(", namespace: a") + templateOf("", x), flowOf("") + templateOf(", namespace: a", x)} {
		_, notes := converted(t, "f", []byte(text))
		assert.NotContains(t, strings.Join(notes, "\n"), missing)
	}
	_, notes := converted(t, "f", []byte(flowOf(", namespace: a")+templateOf(", namespace: b", x)))
	assert.Contains(t, strings.Join(notes, "\n"), missing)

	runtimeOf := func(kind, namespace, image string) string {
		return "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: " + kind + "\nmetadata: {name: r" + namespace + "}\n" +
			"spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node, image: " +
			image + "}]}}}}}]}}}\n---\n"
	}
	const job = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: j, namespace: a}\nspec: {runtimeRef: {kind: "
	result, notes = converted(t, "f", []byte(runtimeOf("TrainingRuntime", ", namespace: a", "image-a")+
		runtimeOf("TrainingRuntime", ", namespace: b", "image-b")+job+"TrainingRuntime, name: r}}"))
	assert.Contains(t, result, "image: image-a\n")
	assert.Contains(t, strings.Join(notes, "\n"), "f:9:1: TrainingRuntime/r: spec: not carried over: no TrainJob among the files names it")
	result, _ = converted(t, "f", []byte(runtimeOf("ClusterTrainingRuntime", "", "image-c")+job+"ClusterTrainingRuntime, name: r}}"))
	assert.Contains(t, result, "image: image-c\n")
}
