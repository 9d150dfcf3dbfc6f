package lifecycle

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/builder"
)

// MaySuspendOrResume reports whether a Job's suspend differs from the spec's and may be changed. A Job that someone else has suspended
// stays suspended: byUs says that the operator has suspended it.
func MaySuspendOrResume(job *batchv1.Job, suspend, byUs bool) bool {
	return job.DeletionTimestamp == nil && ptr.Deref(job.Spec.Suspend, false) != suspend && (suspend || byUs)
}

// SuspendOrResume returns the edit that suspends or resumes a Job. An annotation marks the Jobs that the operator has suspended. The same
// write sets both, so a crash can't separate them: the operator resumes only what it has suspended itself.
func SuspendOrResume(job *batchv1.Job, suspend bool, annotation string) builder.Edit {
	after := job.DeepCopy()
	after.Spec.Suspend = &suspend
	if suspend {
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, annotation, "true")
	} else {
		delete(after.Annotations, annotation)
	}
	return builder.Edit{Before: job, After: after}
}
