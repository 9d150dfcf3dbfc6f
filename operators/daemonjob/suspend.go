package daemonjob

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// isSuspended reports whether this operator has suspended Jobs, by the condition Suspended.
func isSuspended(status *v1alpha1.DaemonJobStatus) bool {
	return meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionSuspended)
}

// suspendOrResume edits running Jobs whose suspend differs from the spec's. A Job that someone else has suspended stays
// suspended: the operator resumes only what it has suspended, and the condition Suspended records that. It resumes a Job once
// the Job's old pods have ended, because the Job controller would create new ones beside them.
func (p *pass) suspendOrResume(nodes *observed) []builder.Edit {
	suspend := p.job.Spec.Suspend
	if !suspend && !isSuspended(&p.last) {
		return nil
	}
	var edits []builder.Edit
	for _, r := range nodes.running {
		if !suspend && nodes.pods.Unended(r.job) != nil {
			continue
		}
		if r.job.DeletionTimestamp == nil && r.isSuspended() != suspend {
			after := r.job.DeepCopy()
			after.Spec.Suspend = new(suspend)
			edits = append(edits, builder.Edit{Before: r.job, After: after})
		}
	}
	return edits
}

// blockedResumes returns the nodes whose suspended Job can't be resumed yet, and the pod that it waits for.
func (p *pass) blockedResumes(nodes *observed) []blocker {
	if p.job.Spec.Suspend || !isSuspended(&p.last) {
		return nil
	}
	var blocked []blocker
	for _, r := range nodes.running {
		if pod := nodes.pods.Unended(r.job); pod != nil && r.isSuspended() {
			blocked = append(blocked, blocker{r.node, pod.Name})
		}
	}
	return blocked
}
