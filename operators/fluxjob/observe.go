package fluxjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// observed is what a pass reads of the cluster: the job's queue and what the queue has reserved for it, its MiniCluster, the Jobs of
// the MiniCluster, and the pods.
type observed struct {
	queue      *v1alpha1.FluxSetup       // the one that the spec names; nil if it doesn't exist, or Kueue is the queue
	admittedBy *v1alpha1.FluxSetup       // the one whose quota the job holds; nil if it is gone, or the job holds none
	offer      *v1alpha1.FluxReservation // in queue, for the next attempt; nil if there is none
	held       *v1alpha1.FluxReservation // in admittedBy, for the present attempt; nil if there is none
	priority   *int32                    // the effective one in the queue that counts; nil without a queue
	namespace  *corev1.Namespace         // nil if it isn't known
	cluster    *v1alpha1.MiniCluster     // nil if there is none
	jobs       []*batchv1.Job            // of the MiniCluster
	pods       []*corev1.Pod             // of the job that haven't ended, whatever became of their MiniCluster
	problems   field.ErrorList           // of the spec
}

// observe returns what the view has of a job.
func (p *pass) observe(view builder.View) *observed {
	o := &observed{problems: needs.Problems(p.job), jobs: builder.Owned[*batchv1.Job](view)}
	o.queue, _ = builder.Lookup[*v1alpha1.FluxSetup](view, needs.Queue(p.job))
	o.offer = p.reservation(o.queue, p.job.Status.Attempts+1)
	if a := p.job.Status.Admission; a != nil {
		o.admittedBy, _ = builder.Lookup[*v1alpha1.FluxSetup](view, a.Queue)
		o.held = p.reservation(o.admittedBy, p.job.Status.Attempts)
	}
	o.namespace, _ = builder.Lookup[*corev1.Namespace](view, p.job.Namespace)
	o.cluster, _ = builder.Lookup[*v1alpha1.MiniCluster](view, p.job.Name)
	for _, pod := range builder.Watched[*corev1.Pod](view) {
		if pod.Labels[LabelUID] == string(p.job.UID) && !outcome.HasEnded(pod) {
			o.pods = append(o.pods, pod)
		}
	}
	o.priority = p.effectivePriority(o)
	return o
}

// reservation returns the reservation of a queue for an attempt of the job, nil if there is none.
func (p *pass) reservation(queue *v1alpha1.FluxSetup, attempt int32) *v1alpha1.FluxReservation {
	if queue == nil {
		return nil
	}
	for i := range queue.Status.Reservations {
		if r := &queue.Status.Reservations[i]; r.UID == p.job.UID && r.Attempt == attempt {
			return r
		}
	}
	return nil
}

// podsGone reports whether no pod of the job runs, and none will start by itself: the MiniCluster is gone, or has ended, or is suspended
// and its operator has observed that; and all pods have ended. The Jobs count what the cache of pods may not have yet. The pods are also
// those of services, and those whose MiniCluster or Job was deleted.
func (o *observed) podsGone() bool {
	if len(o.pods) > 0 {
		return false
	}
	if c := o.cluster; c != nil && !needs.IsOver(c) && !(c.Spec.Suspend && c.Status.ObservedGeneration == c.Generation) {
		return false
	}
	for _, job := range o.jobs {
		if job.Status.Active > 0 || ptr.Deref(job.Status.Terminating, 0) > 0 {
			return false
		}
		if outcome.Of(job).Phase == outcome.Running && !isSuspended(job) {
			return false
		}
	}
	return true
}

// isSuspended reports whether a Job is suspended, and the Job controller has observed that.
func isSuspended(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.Suspend, false) && outcome.Condition(job, batchv1.JobSuspended) != nil
}

// runs reports whether there is a MiniCluster that may run: it isn't suspended, and isn't being deleted.
func (o *observed) runs() bool {
	return o.cluster != nil && o.cluster.DeletionTimestamp == nil && !o.cluster.Spec.Suspend
}

// wasDeleted reports whether the MiniCluster of this attempt is gone, or being deleted, without an end. The operator itself deletes none
// that it has let run.
func (p *pass) wasDeleted(o *observed) bool {
	return p.job.Status.MiniCluster != "" && (o.cluster == nil || o.cluster.DeletionTimestamp != nil)
}

// refusal returns the condition that says why the MiniCluster can't be carried out, nil if it can. Without a MiniCluster it is the job's
// own condition, in which the builder reports that the API server refuses the MiniCluster. With one it is the MiniCluster's: its operator
// finds the spec invalid, or the API server refuses a child while there is no Job yet.
func (p *pass) refusal(o *observed) *metav1.Condition {
	c := o.cluster
	if c == nil {
		own := meta.FindStatusCondition(p.job.Status.Conditions, events.ConditionStalled)
		if own != nil && own.Status == metav1.ConditionTrue && own.Reason == events.ReasonApplyFailed &&
			own.ObservedGeneration == p.job.Generation {
			return own
		}
		return nil
	}
	stalled := meta.FindStatusCondition(c.Status.Conditions, events.ConditionStalled)
	switch {
	case c.Spec.Suspend: // the condition is about an earlier attempt
		return nil
	case stalled == nil || stalled.Status != metav1.ConditionTrue || stalled.ObservedGeneration != c.Generation:
		return nil
	case stalled.Reason == v1alpha1.ReasonInvalidSpec, stalled.Reason == events.ReasonApplyFailed && len(o.jobs) == 0:
		return stalled
	default:
		return nil
	}
}
