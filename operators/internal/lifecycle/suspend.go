package lifecycle

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// IsQueued reports whether Kueue decides when a Job runs. Kueue resumes each Job that it has admitted, also one that the operator
// suspends, so the operator deletes such a Job instead. Kueue also labels Jobs itself, in a namespace with a default LocalQueue.
func IsQueued(job *batchv1.Job) bool { return job.Labels[v1alpha1.LabelKueueQueue] != "" }

// IsSuspendedByUs reports whether the operator has suspended a Job and resumes it. An annotation marks the Jobs that it has suspended.
func IsSuspendedByUs(job *batchv1.Job, annotation string) bool {
	return isSuspended(job) && job.Annotations[annotation] != "" && !IsQueued(job)
}

// MaySuspendOrResume reports whether the operator changes a Job because its owner is suspended, or is no longer. The operator suspends a
// Job once: someone else has resumed a Job that runs with the annotation, and the two would never agree. A Job that someone else has
// suspended stays suspended.
func MaySuspendOrResume(job *batchv1.Job, suspend bool, annotation string) bool {
	isMarked := job.Annotations[annotation] != ""
	if suspend {
		return job.DeletionTimestamp == nil && !isMarked && !isSuspended(job) && !IsQueued(job)
	}
	return job.DeletionTimestamp == nil && isMarked
}

// SuspendOrResume returns the edit that suspends or resumes a Job. The same write sets the annotation, so a crash can't separate them: the
// operator resumes only what it has suspended itself. The resume also drops the annotation of a Job that someone else has resumed, or
// that Kueue resumes: later someone else may suspend it.
func SuspendOrResume(job *batchv1.Job, suspend bool, annotation string) builder.Edit {
	after := job.DeepCopy()
	if suspend {
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, annotation, "true")
	} else {
		delete(after.Annotations, annotation)
	}
	if suspend || IsSuspendedByUs(job, annotation) {
		after.Spec.Suspend = &suspend
	}
	return builder.Edit{Before: job, After: after}
}

func isSuspended(job *batchv1.Job) bool { return ptr.Deref(job.Spec.Suspend, false) }
