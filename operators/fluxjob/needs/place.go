package needs

import (
	"time"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/queue"
)

// Kueue returns the name of Kueue's queue that a job waits in, empty if it is not Kueue's.
func Kueue(job *v1alpha1.FluxJob) string { return job.Labels[v1alpha1.LabelKueueQueue] }

// Queue returns the name of the FluxSetup that a job waits for, empty if Kueue is its queue.
func Queue(job *v1alpha1.FluxJob) string {
	switch {
	case Kueue(job) != "":
		return ""
	case job.Spec.Queue == "":
		return v1alpha1.DefaultFluxQueue
	default:
		return job.Spec.Queue
	}
}

// Wants reports whether a job wants to be admitted: it has not ended, holds nothing, and isn't suspended.
func Wants(job *v1alpha1.FluxJob) bool {
	return job.DeletionTimestamp == nil && job.Status.CompletionTime == nil && job.Status.Admission == nil && !job.Spec.Suspend
}

// Priority returns a job's priority in a setup, which is nil if there is none.
func Priority(job *v1alpha1.FluxJob, setup *v1alpha1.FluxSetup) int32 {
	switch {
	case job.Spec.Priority != nil:
		return *job.Spec.Priority
	case setup != nil:
		return setup.Spec.Priority
	default:
		return 0
	}
}

// Since returns when a job lined up: when it was created, or its backoff ended.
func Since(job *v1alpha1.FluxJob) time.Time {
	if t := job.Status.RequeueTime; t != nil {
		return t.Time
	}
	return job.CreationTimestamp.Time
}

// Place returns where in the line of a setup a job stands. Two of them can be compared.
func Place(job *v1alpha1.FluxJob, setup *v1alpha1.FluxSetup) queue.Job {
	return queue.Job{
		ID: queue.ID{Namespace: job.Namespace, Name: job.Name}, Priority: Priority(job, setup), Since: Since(job),
	}
}
