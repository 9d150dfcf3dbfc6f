package jobflow

import (
	"strconv"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/names"
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
	return fit(flow + "-" + node)
}

// PodLabels returns the labels by which the pods of a node are found: of all its items and retries.
func PodLabels(flow *v1alpha1.JobFlow, node string) map[string]string {
	return map[string]string{LabelJobFlow: names.LabelValue(flow.Name), LabelFlow: names.LabelValue(node)}
}

// jobNameOf returns the name of the Job of a node in a retry (0: before any): with -r<retry> behind it.
func jobNameOf(flow, node string, retry int32) string {
	return fit(flow + "-" + node + retrySuffix(retry))
}

// itemJobName returns the name of the Job of an item of a node.
func itemJobName(flow, node string, item int, retry int32) string {
	return fit(flow + "-" + node + "-" + strconv.Itoa(item) + retrySuffix(retry))
}

func retrySuffix(retry int32) string {
	if retry == 0 {
		return ""
	}
	return "-r" + strconv.Itoa(int(retry))
}

// fit shortens a Job's name if it is too long.
func fit(name string) string {
	if len(name) <= names.MaxLength {
		return name
	}
	return names.Cut(name, names.ShortLength)
}

// namesakeOf returns the node whose Jobs could be called as this node's: one whose name, with what the Jobs' names of
// retries and items have behind it, is this node's name. Empty if there is none.
func namesakeOf(name string, has, isForEach func(name string) bool) string {
	if head, digits, ok := cutLast(name, "-r"); ok && isNumber(digits) {
		if has(head) {
			return head
		}
		name = head
	}
	if head, digits, ok := cutLast(name, "-"); ok && isNumber(digits) && isForEach(head) {
		return head
	}
	return ""
}

func cutLast(s, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
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
