package jobflow

import (
	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/names"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
)

// What a flow's Jobs and their pods carry.
const (
	// LabelJobFlow is the label for the JobFlow's name, shortened if it is longer than 63 characters.
	LabelJobFlow = "api.practice.com/jobflow"
	// LabelFlow is the label for the name that the node has in the JobFlow.
	LabelFlow = "api.practice.com/flow"
	// LabelItem is the label for the index of the item that a Job of a forEach is for.
	LabelItem = "api.practice.com/item"
	// LabelRetry is the label for the number of the retry that a Job was made in. Jobs made before any have none.
	LabelRetry = "api.practice.com/retry"
	// AnnotationJobFlow is a pod's annotation for the JobFlow's name, where LabelJobFlow has it shortened.
	AnnotationJobFlow = "api.practice.com/jobflow"
	// AnnotationJobTemplate is a Job's annotation for the JobTemplate that its spec was taken from.
	AnnotationJobTemplate = "api.practice.com/job-template"
	// AnnotationTTL is a Job's annotation for its template's ttlSecondsAfterFinished, which the operator keeps.
	AnnotationTTL = "api.practice.com/ttl-seconds-after-finished"
	// AnnotationStartedAs is a Job's annotation for hashes of what its node was when it was started, field by field.
	AnnotationStartedAs = "api.practice.com/started-as"
	// AnnotationSuspended is a Job's annotation that says that it is suspended because its flow is, and not by itself.
	AnnotationSuspended = "api.practice.com/suspended-by-jobflow"
)

// JobName returns the name of a node's Job: <flow>-<node>, cut if it is longer than 63 characters.
func JobName(flow, node string) string {
	return graph.JobName(flow, node, 0)
}

// PodLabels returns the labels by which the pods of a node are found: of all its items and retries.
func PodLabels(flow *v1alpha1.JobFlow, node string) map[string]string {
	return map[string]string{LabelJobFlow: names.LabelValue(flow.Name), LabelFlow: names.LabelValue(node)}
}

// TemplateNames returns the names of the JobTemplates that a flow refers to, each once.
func TemplateNames(flow *v1alpha1.JobFlow) []string {
	var all []string
	known := map[string]bool{}
	add := func(nodes []v1alpha1.Flow) {
		for i := range nodes {
			if name := nodes[i].JobTemplateRef; name != "" && !known[name] {
				known[name] = true
				all = append(all, name)
			}
		}
	}
	add(flow.Spec.Flows)
	add(flow.Spec.Finally)
	return all
}
