package jobflow

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/internal/names"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// Labels of a flow's Jobs and their pods.
const (
	// LabelJobFlow is the label for the JobFlow's name, cut if it is longer than 63 characters.
	LabelJobFlow = "api.practice.com/jobflow"
	// LabelFlow is the label for the name that the node has in the JobFlow.
	LabelFlow = "api.practice.com/flow"
	// LabelItem is the label for the index of the item that a Job of a forEach is for.
	LabelItem = "api.practice.com/item"
	// LabelRetry is the label for the retry that a Job was created in. Jobs that were created before any retry don't have it.
	LabelRetry = "api.practice.com/retry"
)

// Annotations of a flow's Jobs and their pods.
const (
	// AnnotationJobFlow is a pod's annotation for the JobFlow's name, where LabelJobFlow has it cut.
	AnnotationJobFlow = "api.practice.com/jobflow"
	// AnnotationJobTemplate is a Job's annotation for the JobTemplate that its spec was taken from.
	AnnotationJobTemplate = "api.practice.com/job-template"
	// AnnotationTTL is a Job's annotation for its template's ttlSecondsAfterFinished, after which the operator deletes the Job.
	AnnotationTTL = "api.practice.com/ttl-seconds-after-finished"
	// AnnotationStartedAs is a Job's annotation for hashes of the fields that its node was started with.
	AnnotationStartedAs = "api.practice.com/started-as"
	// AnnotationSuspended is the annotation of a Job that the operator has suspended, because its flow is suspended.
	AnnotationSuspended = "api.practice.com/suspended-by-jobflow"
)

// JobName returns the name of a node's Job: <flow>-<node>, cut if it is longer than 63 characters.
func JobName(flow, node string) string {
	return graph.JobName(flow, node, 0)
}

// PodLabels returns the labels that select the pods of a node, of all its items and retries.
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

// lookForTemplates adds the blockers of nodes that don't start yet, so that users see early what to fix.
func (p *pass) lookForTemplates() {
	if p.spec.Suspend {
		return
	}
	for i := range p.NumFlows {
		if p.States[i] == record.Pending && p.spec.Flows[i].JobTemplateRef != "" && p.findings[i].message == "" {
			p.template(i)
		}
	}
}

// template returns the Job spec of a node; false if something blocks it.
func (p *pass) template(i int) (*batchv1.JobSpec, bool) {
	node := p.node(i)
	if node.JobTemplateRef == "" {
		return node.JobTemplate, true
	}
	found, ok := builder.Lookup[*v1alpha1.JobTemplate](p.view, node.JobTemplateRef)
	if !ok {
		p.block(i, v1alpha1.ReasonJobTemplateNotFound, fmt.Sprintf("waits for JobTemplate %q: %s", node.JobTemplateRef,
			field.NotFound(p.Path(i).Child("jobTemplateRef"), node.JobTemplateRef)))
		return nil, false
	}
	for j, mount := range node.ShareVolumeMounts {
		own := found.Spec.JobTemplate.Template.Spec.Volumes
		if !podtemplate.HasVolume(p.spec.ShareVolumes, mount.Name) && !podtemplate.HasVolume(own, mount.Name) {
			p.block(i, v1alpha1.ReasonInvalidSpec, fmt.Sprintf("neither shareVolumes nor JobTemplate %q has the volume: %s", node.JobTemplateRef,
				field.NotFound(p.Path(i).Child("shareVolumeMounts").Index(j).Child("name"), mount.Name)))
			return nil, false
		}
	}
	return &found.Spec.JobTemplate, true
}

// Variables of the containers of an item's Job.
const (
	envItem      = "ITEM"
	envItemIndex = "ITEM_INDEX"
)

// itemEnv is the item that a Job is for.
type itemEnv struct {
	index int
	value string
}

// render returns the Job of a node, or of one of its items, from the spec in its template. It shares no memory with either.
func (p *pass) render(i int, template *batchv1.JobSpec, item *itemEnv) (*batchv1.Job, error) {
	node, params := p.node(i), &p.spec.GlobalParams
	env, err := p.variables(i, item)
	if err != nil {
		return nil, err
	}
	own := map[string]string{
		LabelJobFlow:             names.LabelValue(p.flow.Name),
		LabelFlow:                names.LabelValue(node.Name),
		wellknown.LabelManagedBy: wellknown.ManagedBy,
	}
	if p.retry > 0 {
		own[LabelRetry] = strconv.Itoa(int(p.retry))
	}
	name := p.JobNames[i]
	if item != nil {
		own[LabelItem] = strconv.Itoa(item.index)
		name = graph.ItemJobName(p.flow.Name, node.Name, item.index, p.retry)
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   p.flow.Namespace,
			Name:        name,
			Labels:      podtemplate.Merge(own, params.Labels),
			Annotations: podtemplate.Merge(map[string]string{AnnotationStartedAs: record.Digest(node)}, params.Annotations),
		},
		Spec: *template.DeepCopy(),
	}
	if node.JobTemplateRef != "" {
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, AnnotationJobTemplate, node.JobTemplateRef)
	}
	if ttl := job.Spec.TTLSecondsAfterFinished; ttl != nil && *ttl >= 0 { // the API server refuses a negative one
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, AnnotationTTL, strconv.Itoa(int(*ttl)))
		job.Spec.TTLSecondsAfterFinished = nil
	}
	if job.Spec.BackoffLimit == nil && job.Spec.BackoffLimitPerIndex == nil {
		job.Spec.BackoffLimit = ptr.To[int32](0)
	}

	pod := &job.Spec.Template
	podtemplate.Env(pod, env)
	podtemplate.Globals(pod, params)
	podtemplate.ShareVolumes(pod, p.spec.ShareVolumes, node.ShareVolumeMounts)
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever // retries are for the Job to count
	pod.Labels = podtemplate.Merge(own, pod.Labels)
	podtemplate.AnnotateOwner(pod, AnnotationJobFlow, p.flow.Name)
	return job, nil
}

// variables returns the variables of a node's containers: its item, its inputs, and in finally the outcome of the flow.
func (p *pass) variables(i int, item *itemEnv) ([]corev1.EnvVar, error) {
	var env []corev1.EnvVar
	if item != nil {
		env = append(env,
			corev1.EnvVar{Name: envItem, Value: literal(item.value)},
			corev1.EnvVar{Name: envItemIndex, Value: strconv.Itoa(item.index)})
	}
	if i >= p.NumFlows {
		env = append(env, p.finallyEnv()...)
	}
	inputs := p.node(i).Inputs
	for n := range inputs {
		value, err := p.output(int(p.Index[inputs[n].From]))
		if err != nil {
			return nil, err
		}
		env = append(env, corev1.EnvVar{Name: inputs[n].Env, Value: literal(value)})
	}
	return env, nil
}

// output returns the output of a node that has ended: empty if it hasn't succeeded, or has forEach.
func (p *pass) output(i int) (string, error) {
	o, known := p.outputs[p.Names[i]]
	if p.States[i] != record.Succeeded || !known && p.node(i).ForEach != nil {
		return o.Value, nil
	}
	return p.outputs.Value(p.Names[i], limitsFor(p.Size()).outputs)
}

// literal escapes a value that users or containers give, so that Kubernetes doesn't replace $(NAME) in it.
func literal(value string) string { return strings.ReplaceAll(value, "$", "$$") }
