package needs

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
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

// Since returns when a job entered the queue: when it was created, or its backoff ended.
func Since(job *v1alpha1.FluxJob) time.Time {
	if t := job.Status.RequeueTime; t != nil {
		return t.Time
	}
	return job.CreationTimestamp.Time
}

// QueueJob returns a job of a priority with all that its position in a queue depends on.
func QueueJob(job *v1alpha1.FluxJob, priority int32) queue.Job {
	return queue.Job{ID: queue.ID{Namespace: job.Namespace, Name: job.Name}, Priority: priority, Since: Since(job)}
}

// IsOver reports whether a MiniCluster has ended.
func IsOver(c *v1alpha1.MiniCluster) bool {
	return meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionSucceeded) ||
		meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionFailed)
}
