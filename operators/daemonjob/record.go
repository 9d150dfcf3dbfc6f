package daemonjob

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// recorded returns what the status remembers, as a copy. A retry makes it forget that the job has failed, and with that
// which nodes have; those that have succeeded stay.
func recorded(job *v1alpha1.DaemonJob) v1alpha1.DaemonJobStatus {
	was := *job.Status.DeepCopy()
	if job.Spec.Retry <= was.Retry || was.State == v1alpha1.StateSucceed {
		return was
	}
	was.Retry = job.Spec.Retry
	was.Paused = false
	was.FailedNodes, was.Failures = "", nil
	was.ActiveSince, was.CompletionTime = nil, nil
	meta.RemoveStatusCondition(&was.Conditions, v1alpha1.ConditionFailed)
	meta.RemoveStatusCondition(&was.Conditions, events.ConditionStalled)
	return was
}

// isRetried reports whether there is a retry that the last pass hadn't seen.
func isRetried(job *v1alpha1.DaemonJob, was v1alpha1.DaemonJobStatus) bool {
	return was.Retry > job.Status.Retry && job.Status.State != ""
}
