package jobflow

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// render makes the Job of a node from the spec that its template gives. It shares nothing with its arguments.
func render(flow *v1alpha1.JobFlow, node *v1alpha1.Flow, template *batchv1.JobSpec) *batchv1.Job {
	params := &flow.Spec.GlobalParams
	own := map[string]string{
		LabelJobFlow: labelValue(flow.Name),
		LabelFlow:    labelValue(node.Name),
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   flow.Namespace,
			Name:        JobName(flow.Name, node.Name),
			Labels:      podtemplate.Merge(own, params.Labels),
			Annotations: podtemplate.Merge(nil, params.Annotations),
		},
		Spec: *template.DeepCopy(),
	}
	job.Labels[builder.LabelManagedBy] = builder.ManagedBy
	if node.JobTemplateRef != "" {
		annotate(job, AnnotationJobTemplate, node.JobTemplateRef)
	}
	if ttl := job.Spec.TTLSecondsAfterFinished; ttl != nil && *ttl >= 0 { // a negative one is for the API server to refuse
		annotate(job, AnnotationTTL, strconv.Itoa(int(*ttl)))
		job.Spec.TTLSecondsAfterFinished = nil
	}
	if job.Spec.BackoffLimit == nil && job.Spec.BackoffLimitPerIndex == nil {
		job.Spec.BackoffLimit = ptr.To[int32](0)
	}

	pod := &job.Spec.Template
	podtemplate.Globals(pod, params)
	podtemplate.ShareVolumes(pod, flow.Spec.ShareVolumes, node.ShareVolumeMounts)
	podtemplate.NeverRestart(pod)
	pod.Labels = podtemplate.Merge(own, pod.Labels)
	return job
}

func annotate(job *batchv1.Job, key, value string) {
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[key] = value
}
