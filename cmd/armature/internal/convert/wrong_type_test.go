package convert

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWrongTypes: a field whose value has another type than the original's, or none of its values, is noted.
func TestWrongTypes(t *testing.T) {
	const (
		group    = "apiVersion: flow.volcano.sh/v1alpha1\nmetadata: {name: v}\n"
		jobset   = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\nspec: {"
		template = "template: {spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}"
	)
	for path, text := range map[string]string{
		"spec.flows[1].dependsOn": group + "kind: JobFlow\nspec: {flows: [{name: a}, {name: b, dependsOn: {targets: a}}]}",
		"spec.tasks[0].replicas": group + "kind: JobTemplate\n" +
			"spec: {tasks: [{name: x, replicas: '3', template: {spec: {containers: [{name: c, image: i}]}}}]}",
		"spec.replicatedJobs[0].replicas": jobset + "replicatedJobs: [{name: w, replicas: '4', " + template + "}]}",
		"spec.failurePolicy":              jobset + "failurePolicy: {maxRestarts: '3'}, replicatedJobs: [{name: w, " + template + "}]}",
		"spec.successPolicy.operator":     jobset + "successPolicy: {operator: any}, replicatedJobs: [{name: w, " + template + "}]}",
		"spec.startupPolicy.startupPolicyOrder": jobset + "startupPolicy: {startupPolicyOrder: inOrder}, " +
			"replicatedJobs: [{name: w, " + template + "}]}",
		"spec.replicatedJobs[0].groupName": jobset + "replicatedJobs: [{name: w, groupName: g, " + template + "}]}",
		"spec.network.enableDNSHostnames":  jobset + "network: {enableDNSHostnames: false}, replicatedJobs: [{name: w, " + template + "}]}",
	} {
		_, notes := converted(t, "f", []byte(text))
		assert.Contains(t, strings.Join(notes, "\n"), ": "+path+": ")
	}
	_, notes := converted(t, "f", []byte(jobset+"network: {enableDNSHostnames: true}, startupPolicy: {startupPolicyOrder: AnyOrder}, "+
		"successPolicy: {operator: All}, replicatedJobs: [{name: w, groupName: default, "+template+"}]}"))
	require.Len(t, notes, 1, "the names of pods: %v", notes)
}
