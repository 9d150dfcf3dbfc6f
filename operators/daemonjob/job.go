package daemonjob

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/internal/names"
	"github.com/armature-dev/armature/operators/internal/origin"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// What a DaemonJob's Jobs and their pods carry.
const (
	// LabelDaemonJob is the label for the DaemonJob's name, cut if it is longer than 63 characters.
	LabelDaemonJob = "api.practice.com/daemonjob"
	// LabelNode is the label for the name of the node, cut if it is longer than 63 characters.
	LabelNode = "api.practice.com/node"
	// AnnotationDaemonJob is a pod's annotation for the DaemonJob's name, where LabelDaemonJob has it cut.
	AnnotationDaemonJob = "api.practice.com/daemonjob"
	// AnnotationNode is a Job's annotation for the name of its node.
	AnnotationNode = "api.practice.com/node"
	// AnnotationNodeUID is a Job's annotation for the UID of its node, which distinguishes a node from its predecessor of the same name.
	AnnotationNodeUID = "api.practice.com/node-uid"
	// AnnotationSuspended is the annotation of a Job that the operator has suspended, because its DaemonJob is suspended.
	AnnotationSuspended = "api.practice.com/suspended-by-daemonjob"
	// AnnotationRetry is a Job's annotation for the spec's retry that it was started under, if that isn't 0.
	AnnotationRetry = "api.practice.com/retry"
)

// JobName returns the name of a node's Job: <daemonjob>-<node>, with a hash if that has dots or is too long for the name
// of a pod.
func JobName(job, node string) string {
	return names.DNSLabel(job + "-" + node)
}

// render returns the Job of any node, to which onNode adds the node. It shares no memory with the DaemonJob.
func render(job *v1alpha1.DaemonJob) *batchv1.Job {
	params := &job.Spec.GlobalParams
	own := map[string]string{
		LabelDaemonJob:           names.LabelValue(job.Name),
		wellknown.LabelManagedBy: wellknown.ManagedBy, // the manager sees only such Jobs and pods
	}
	rendered := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   job.Namespace,
			Labels:      podtemplate.Merge(own, params.Labels),
			Annotations: podtemplate.Merge(nil, params.Annotations),
		},
		Spec: jobSpec(&job.Spec),
	}
	pod := &rendered.Spec.Template
	podtemplate.Globals(pod, params)
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever // retries are for the Job to count
	if job.Spec.TolerateLikeDaemonSet {
		podtemplate.TolerateLikeDaemonSet(&pod.Spec)
	}
	pod.Labels = podtemplate.Merge(own, pod.Labels)
	podtemplate.AnnotateOwner(pod, AnnotationDaemonJob, job.Name)
	return rendered
}

// jobSpec returns the spec of each node's Job. Default for backoffLimit: 0, so that a failed pod fails the Job.
func jobSpec(spec *v1alpha1.DaemonJobSpec) batchv1.JobSpec {
	s := spec.DeepCopy()
	if s.BackoffLimit == nil && s.BackoffLimitPerIndex == nil {
		s.BackoffLimit = ptr.To[int32](0)
	}
	return batchv1.JobSpec{
		Template:             s.Template,
		BackoffLimit:         s.BackoffLimit,
		Completions:          s.Completions,
		CompletionMode:       s.CompletionMode,
		BackoffLimitPerIndex: s.BackoffLimitPerIndex,
		MaxFailedIndexes:     s.MaxFailedIndexes,
		PodFailurePolicy:     s.PodFailurePolicy,
		SuccessPolicy:        s.SuccessPolicy,
		PodReplacementPolicy: s.PodReplacementPolicy,
		Scheduling:           s.Scheduling,
	}
}

// onNode returns the rendered Job as the Job of one node.
func onNode(rendered *batchv1.Job, job *v1alpha1.DaemonJob, node *corev1.Node) *batchv1.Job {
	label := map[string]string{LabelNode: names.LabelValue(node.Name)}
	notes := map[string]string{AnnotationNode: node.Name, AnnotationNodeUID: string(node.UID)}
	if job.Spec.Retry > 0 {
		notes[AnnotationRetry] = strconv.Itoa(int(job.Spec.Retry))
	}
	own := rendered.DeepCopy()
	own.Name = JobName(job.Name, node.Name)
	own.Labels = podtemplate.Merge(label, own.Labels)
	own.Annotations = podtemplate.Merge(notes, own.Annotations)
	pod := &own.Spec.Template
	pod.Labels = podtemplate.Merge(label, pod.Labels)
	podtemplate.OnNode(&pod.Spec, node.Name)
	return own
}

// startedUnder returns the value that spec.retry had when a node's Job was created.
func startedUnder(job *batchv1.Job) int32 { return origin.Number(job.Annotations, AnnotationRetry) }
