package daemonjob

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// lastStatus returns a copy of the recorded status. A higher spec.retry resets the failure of the job and of its nodes; nodes
// that have succeeded stay so.
func lastStatus(job *v1alpha1.DaemonJob) v1alpha1.DaemonJobStatus {
	last := *job.Status.DeepCopy()
	if job.Spec.Retry <= last.Retry || last.State == v1alpha1.StateSucceed {
		return last
	}
	last.Retry = job.Spec.Retry
	last.Paused = false
	last.FailedNodes, last.Failures = "", nil
	last.ActiveSince, last.CompletionTime = nil, nil
	meta.RemoveStatusCondition(&last.Conditions, v1alpha1.ConditionFailed)
	meta.RemoveStatusCondition(&last.Conditions, events.ConditionStalled)
	return last
}

// isRetried reports whether a status begins a retry.
func isRetried(job *v1alpha1.DaemonJob, status v1alpha1.DaemonJobStatus) bool {
	return status.Retry > job.Status.Retry && job.Status.State != ""
}
