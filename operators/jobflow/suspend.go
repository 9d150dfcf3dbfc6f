package jobflow

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// suspend says whether the flow is suspended, and from when on its deadline runs.
func (p *pass) suspend(status *v1alpha1.JobFlowStatus) {
	switch {
	case p.spec.Suspend:
		p.held = true
		status.ActiveSince = nil
		p.conditions(status).Set(v1alpha1.ConditionSuspended, metav1.ConditionTrue, v1alpha1.ReasonSuspended, "spec.suspend is true")
	default:
		if p.conditions(status).Find(v1alpha1.ConditionSuspended) != nil {
			p.conditions(status).Set(v1alpha1.ConditionSuspended, metav1.ConditionFalse, v1alpha1.ReasonResumed, "spec.suspend is false")
		}
		if status.StartTime == nil {
			status.StartTime = &p.now
		}
		if status.ActiveSince == nil {
			status.ActiveSince = &p.now
		}
	}
}

// suspendJobs returns the changes that make the active Jobs as suspended as the flow is. A Job that is suspended by its
// own template, or by someone else, is theirs to resume. One is resumed once its old pods have ended: else the Job
// controller would make new ones beside them.
func (p *pass) suspendJobs() []builder.Edit {
	var edits []builder.Edit
	p.eachActiveJob(func(job *batchv1.Job, node int) {
		suspended := ptr.Deref(job.Spec.Suspend, false)
		byUs := job.Annotations[AnnotationSuspended] != ""
		if job.DeletionTimestamp != nil || suspended == p.spec.Suspend || (suspended && !byUs) {
			return
		}
		if pod := p.pods.Unended(job); suspended && pod != nil {
			if n := len(p.obstacles); node < p.Size() && (n == 0 || p.obstacles[n-1].node != p.Names[node]) { // of items once
				p.obstruct(node, v1alpha1.ReasonPodsTerminating, fmt.Sprintf("waits for pod %s, which is still ending, to be resumed", pod.Name))
			}
			return
		}
		after := job.DeepCopy()
		after.Spec.Suspend = ptr.To(p.spec.Suspend)
		if p.spec.Suspend {
			annotate(after, AnnotationSuspended, "true")
		} else {
			delete(after.Annotations, AnnotationSuspended)
		}
		edits = append(edits, builder.Edit{Before: job, After: after})
	})
	return edits
}

// isSuspended reports whether a node that is under way has a suspended Job; with items, whether all that are under way are.
func (p *pass) isSuspended(i int) bool {
	if p.States[i] != record.Running {
		return false
	}
	job := p.news[i].job // of a departed node
	if i < p.Size() {
		job = p.jobs[i]
	}
	if job != nil {
		return ptr.Deref(job.Spec.Suspend, false)
	}
	r := p.items[i]
	if r == nil || r.count(record.Running) == 0 {
		return false
	}
	for item, s := range r.states {
		if job := p.itemJobs[itemKey{i, item}]; s == record.Running && (job == nil || !ptr.Deref(job.Spec.Suspend, false)) {
			return false
		}
	}
	return true
}
