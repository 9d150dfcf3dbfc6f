package minicluster

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/origin"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// changeJob adds to a plan what the decision means for the Job.
func (p *pass) changeJob(plan *builder.Plan[*v1alpha1.MiniCluster], o *observed, d decision) {
	remove := func() { plan.Delete = append(plan.Delete, o.job) }
	edit := func(change func(after *batchv1.Job)) {
		after := o.job.DeepCopy()
		change(after)
		plan.Edits = append(plan.Edits, builder.Edit{Before: o.job, After: after})
	}
	switch d.action {
	case actionStart:
		if p.isPrepared(o) {
			plan.Children = append(plan.Children, builder.Want(render(p.c, p.view.Now), builder.CreateOnly()))
		}
	case actionWithhold:
		// Kueue would start the former spec.
		if o.job != nil && isSuspended(o.job) && o.job.DeletionTimestamp == nil && o.isStopped() {
			remove()
		}
	case actionWithdraw:
		if o.job != nil && o.job.DeletionTimestamp == nil && p.isAtRest() {
			remove()
		}
	case actionReplace:
		if o.isStill() { // no two pods ever have the same name in DNS
			remove()
		}
	case actionAwaitResume:
		switch {
		case d.invalid != "" || !p.isAtRest() || !o.isStopped(): // former pods would be taken for new ones
		case p.isSpoiled(o.job):
			remove()
		case !p.c.Spec.Suspend:
			edit(func(after *batchv1.Job) { p.resume(after, o) })
		}
	case actionSuspend:
		edit(func(after *batchv1.Job) { after.Spec.Suspend = new(true) })
	case actionRun:
		edit(func(after *batchv1.Job) { p.adjust(after, o, d) })
	}
}

// isAtRest reports whether the status records that the cluster doesn't run. Invariant: until it does, nothing is started or deleted.
// The next process would take the former leader for one that was lost.
func (p *pass) isAtRest() bool { return p.c.Status.Leader == nil && p.c.Status.StartTime == nil }

// isSpoiled reports whether a suspended Job can't be resumed. A pod that was stopped has ended with a code of its own (runc, for one,
// says 2 when it is told to stop before it has started the container), and its Job fails. Or the spec has changed in the
// meantime, and a Job's template can't. Or the queue has changed, and Kueue must queue the Job again.
func (p *pass) isSpoiled(job *batchv1.Job) bool {
	return outcome.Of(job).Phase == outcome.Failed || outcome.Condition(job, batchv1.JobFailureTarget) != nil ||
		job.Annotations[annotationFailure] != "" || job.Annotations[annotationTemplate] != origin.Digest(new(podTemplate(p.c))) ||
		!isInQueue(job, p.c)
}

// isInQueue reports whether a Job was created for the cluster's queue and priority. The Job's labels don't tell: a policy, an administrator
// or Kueue itself may have set them.
func isInQueue(job *batchv1.Job, c *v1alpha1.MiniCluster) bool {
	if created, isKnown := job.Annotations[annotationQueue]; isKnown {
		return created == queueOf(c)
	}
	desired := allJobLabels(c)
	for _, name := range queueLabels { // a Job of an earlier version: a label that the cluster doesn't have may be someone else's
		if value := desired[name]; value != "" && job.Labels[name] != value {
			return false
		}
	}
	return true
}

// resume lets a suspended Job run, and its deadline start again. Kueue resumes the Jobs in its queues itself.
func (p *pass) resume(after *batchv1.Job, o *observed) {
	if !p.isQueued(o) {
		after.Spec.Suspend = new(false)
	}
	p.resize(after)
	p.setDeadline(after, "0")
}

// adjust changes a running Job to the spec, and makes it fail if the leader was lost or the work will never begin.
func (p *pass) adjust(after *batchv1.Job, o *observed, d decision) {
	if d.invalid == "" {
		p.resize(after)
	}
	p.setDeadline(after, after.Annotations[annotationSpent])
	if d.stopsLeader && !o.failsByItself(p.c) {
		after.Spec.BackoffLimit = ptr.To[int32](0) // the lost leader has been counted: the Job fails, and stops the rest
	}
	if d.givesUp != "" {
		after.Spec.BackoffLimit = ptr.To[int32](0)
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, annotationFailure, d.givesUp)
	}
}

// isResized reports whether a Job has another size than the cluster.
func (p *pass) isResized(job *batchv1.Job) bool {
	n := size(p.c)
	return ptr.Deref(job.Spec.Parallelism, 0) != n || ptr.Deref(job.Spec.Completions, 0) != n
}

// resize sets the size of a Job. Kubernetes removes the highest ranks first.
func (p *pass) resize(after *batchv1.Job) {
	if p.isResized(after) {
		after.Spec.Parallelism, after.Spec.Completions = new(size(p.c)), new(size(p.c))
	}
}

// setDeadline makes a Job end at the cluster's deadline, of which so many seconds had passed before the Job.
func (p *pass) setDeadline(after *batchv1.Job, spent string) {
	seconds := p.c.Spec.DeadlineSeconds
	if (seconds == nil && after.Spec.ActiveDeadlineSeconds == nil) || ptr.Deref(seconds, 1) < 1 {
		return
	}
	if after.Annotations[annotationSpent] != spent {
		after.Annotations = maps.Clone(after.Annotations)
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, annotationSpent, spent)
	}
	after.Spec.ActiveDeadlineSeconds = deadline(p.c, after)
}
