package jobflow

import (
	"cmp"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// isActivated reports whether the flow starts, or has started, also in a pass that crashed before it recorded that: not if its spec is
// invalid from the beginning, nor if it has ended under the former operator.
func (p *pass) isActivated(o *observed) bool {
	return (p.isValid() || p.last.StartTime != nil || p.hasJobs(o)) && !endedUnderFormerOperator(&p.flow.Status)
}

// activeSince returns when the flow was started or resumed, from when on its deadline runs; nil if it is suspended or hasn't started.
func (p *pass) activeSince(o *observed) *metav1.Time {
	switch {
	case !p.isActivated(o):
		return p.last.ActiveSince
	case p.spec.Suspend:
		return nil
	default:
		return cmp.Or(p.last.ActiveSince, &p.now)
	}
}

// setStart sets when the flow was started and resumed, and the condition Suspended.
func (p *pass) setStart(o *observed, status *v1alpha1.JobFlowStatus) {
	if endedUnderFormerOperator(&p.flow.Status) {
		status.StartTime = p.flow.CreationTimestamp.DeepCopy()
	}
	if !p.isActivated(o) {
		return
	}
	conditions := p.conditions(status)
	status.ActiveSince = p.activeSince(o)
	if !p.spec.Suspend || p.hasJobs(o) { // Jobs of a pass that crashed before it recorded the start
		status.StartTime = cmp.Or(status.StartTime, &p.now)
	}
	if p.spec.Suspend {
		conditions.Set(v1alpha1.ConditionSuspended, true, v1alpha1.ReasonSuspended, "spec.suspend is true")
		return
	}
	if conditions.IsTrue(v1alpha1.ConditionSuspended) {
		conditions.Set(v1alpha1.ConditionSuspended, false, v1alpha1.ReasonResumed, "spec.suspend is false")
	}
}

// hasJobs reports whether the flow has Jobs.
func (p *pass) hasJobs(o *observed) bool {
	return len(o.itemJobs)+len(o.removed) > 0 || slices.ContainsFunc(o.jobs, func(job *batchv1.Job) bool { return job != nil })
}

// suspendOrResume edits active Jobs that the suspension of the flow, or its resume, changes. The operator resumes a Job once the Job's old
// pods have ended, because the Job controller would create new ones beside them.
func (p *pass) suspendOrResume(o *observed) []builder.Edit {
	var edits []builder.Edit
	p.eachActiveJob(o, func(job *batchv1.Job, node int) {
		if !lifecycle.MaySuspendOrResume(job, p.spec.Suspend, AnnotationSuspended) {
			return
		}
		if pod := o.pods.Unended(job); pod != nil && lifecycle.IsSuspendedByUs(job, AnnotationSuspended) {
			if n := len(p.blockers); node < p.Size() && (n == 0 || p.blockers[n-1].node != p.Names[node]) { // of items once
				p.block(node, v1alpha1.ReasonPodsTerminating, fmt.Sprintf("waits for pod %s, which is still ending, to be resumed", pod.Name))
			}
			return
		}
		edits = append(edits, lifecycle.SuspendOrResume(job, p.spec.Suspend, AnnotationSuspended))
	})
	return edits
}

// withdrawnJobs returns the active Jobs that the suspension of the flow deletes. The Jobs of a stopped flow are deleted only once its
// status records the stop.
func (p *pass) withdrawnJobs(o *observed, d *decision) []client.Object {
	var jobs []client.Object
	p.eachActiveJob(o, func(job *batchv1.Job, node int) {
		if p.isWithdrawn(o, job, node) && !(d.stopped && p.isFlow(node)) {
			jobs = append(jobs, job)
		}
	})
	return jobs
}

// isWithdrawn reports whether the suspension of the flow deletes an active Job, because the Job is in a queue of Kueue. The resume creates
// the Job again, as the spec then has it, but not that of a removed node. After a failure with failFast, nothing would create it, so it
// runs to its end.
func (p *pass) isWithdrawn(o *observed, job *batchv1.Job, node int) bool {
	return p.spec.Suspend && lifecycle.IsQueued(job) && job.DeletionTimestamp == nil && !o.pods.IsDecided(job) && !p.createsNone(node)
}

// createsNone reports whether a deleted Job of a node isn't created again, because of a failure with failFast.
func (p *pass) createsNone(node int) bool { return p.spec.FailFast && p.failure >= 0 && p.isFlow(node) }

// isSuspended reports whether a running node's Job is suspended; with forEach, whether the Jobs of all running items are, or the suspension
// of the flow lets none run.
func (p *pass) isSuspended(o *observed, i int) bool {
	if p.States[i] != record.Running {
		return false
	}
	job := p.findings[i].job // of a removed node
	if i < p.Size() {
		job = o.jobs[i]
	}
	if job != nil {
		return ptr.Deref(job.Spec.Suspend, false)
	}
	r := p.items[i]
	if r == nil || r.Count(record.Running) == 0 {
		return r != nil && p.spec.Suspend
	}
	for item, s := range r.States {
		if job := o.itemJobs[itemKey{i, item}]; s == record.Running && (job == nil || !ptr.Deref(job.Spec.Suspend, false)) {
			return false
		}
	}
	return true
}
