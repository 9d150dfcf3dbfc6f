package daemonjob

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// isSuspended reports whether the condition Suspended is True.
func isSuspended(status *v1alpha1.DaemonJobStatus) bool {
	return meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionSuspended)
}

// isSuspendedByUs reports whether the operator has suspended the Job: by the Job's annotation, which the same write sets. The condition
// Suspended doesn't say so: it is about the DaemonJob, and a queue may have suspended some of its Jobs.
func (r run) isSuspendedByUs() bool { return lifecycle.IsSuspendedByUs(r.job, AnnotationSuspended) }

// suspendOrResume edits running Jobs that the suspension of the DaemonJob, or its resume, changes. The operator resumes a Job once the
// Job's old pods have ended, because the Job controller would create new ones beside them.
func (p *pass) suspendOrResume(o *observed) []builder.Edit {
	suspend := p.job.Spec.Suspend
	var edits []builder.Edit
	for _, r := range o.running {
		if lifecycle.MaySuspendOrResume(r.job, suspend, AnnotationSuspended) && (!r.isSuspendedByUs() || o.pods.Unended(r.job) == nil) {
			edits = append(edits, lifecycle.SuspendOrResume(r.job, suspend, AnnotationSuspended))
		}
	}
	return edits
}

// withdrawnJobs returns the running Jobs of a suspended DaemonJob that are in a queue of Kueue, to be deleted. The resume creates them
// again, but that of a paused DaemonJob creates none, so its Jobs run to their end.
func (p *pass) withdrawnJobs(o *observed, d decision) []client.Object {
	if !p.job.Spec.Suspend || d.paused {
		return nil
	}
	var jobs []client.Object
	for _, r := range o.running {
		if lifecycle.IsQueued(r.job) && r.job.DeletionTimestamp == nil && !o.pods.IsDecided(r.job) {
			jobs = append(jobs, r.job)
		}
	}
	return jobs
}

// blockedResumes returns the nodes whose suspended Job can't be resumed yet, and the pod that it waits for.
func (p *pass) blockedResumes(o *observed) []blocker {
	if p.job.Spec.Suspend {
		return nil
	}
	var blocked []blocker
	for _, r := range o.running {
		if pod := o.pods.Unended(r.job); pod != nil && r.isSuspendedByUs() {
			blocked = append(blocked, blocker{r.node, pod.Name})
		}
	}
	return blocked
}
