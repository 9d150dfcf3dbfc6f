package jobflow

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// What a flow's Jobs and their pods carry.
const (
	// LabelJobFlow is the label for the JobFlow's name, shortened if it is longer than 63 characters.
	LabelJobFlow = "api.practice.com/jobflow"
	// LabelFlow is the label for the name that the node has in the JobFlow.
	LabelFlow = "api.practice.com/flow"
	// AnnotationJobTemplate is a Job's annotation for the JobTemplate that its spec was taken from.
	AnnotationJobTemplate = "api.practice.com/job-template"
	// AnnotationTTL is a Job's annotation for its template's ttlSecondsAfterFinished, which the operator keeps.
	AnnotationTTL = "api.practice.com/ttl-seconds-after-finished"
)

const (
	// maxName is what fits in a label, where a Job's name goes too.
	maxName = validation.DNS1123LabelMaxLength
	// shortName is the length of a Job's name that had to be cut. It leaves room for what Kubernetes appends to it for
	// the pods of an Indexed Job.
	shortName = 52
	// hashLength is how many hexadecimal digits stand for what was cut.
	hashLength = 10
)

// JobName returns the name of a node's Job: <flow>-<node>, cut if it is longer than 63 characters.
func JobName(flow, node string) string {
	name := flow + "-" + node
	if len(name) <= maxName {
		return name
	}
	return cut(name, shortName)
}

// labelValue returns a name as a label's value.
func labelValue(name string) string {
	if len(name) <= maxName {
		return name
	}
	return cut(name, maxName)
}

// cut shortens a name to a length. A hash of the whole name keeps names apart that begin alike.
func cut(name string, length int) string {
	sum := sha256.Sum256([]byte(name))
	head := strings.TrimRight(name[:length-hashLength-1], "-.")
	return head + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// TemplateNames returns the names of the JobTemplates that a flow refers to, each once.
func TemplateNames(flow *v1alpha1.JobFlow) []string {
	var names []string
	known := map[string]bool{}
	for i := range flow.Spec.Flows {
		if name := flow.Spec.Flows[i].JobTemplateRef; name != "" && !known[name] {
			known[name] = true
			names = append(names, name)
		}
	}
	return names
}
