package lifecycle

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
)

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
