package fluxjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
)

// situation is what a plan looks at.
type situation struct {
	job       *v1alpha1.FluxJob
	queue     *v1alpha1.FluxSetup // the one that the job names; nil if there is none
	lender    *v1alpha1.FluxSetup // the one that gave what the job holds; nil if it is gone, or the job holds nothing
	namespace *corev1.Namespace   // nil if it isn't known
	cluster   *v1alpha1.MiniCluster
	jobs      []*batchv1.Job // of the MiniCluster
	now       metav1.Time
}

func look(job *v1alpha1.FluxJob, seen builder.View) *situation {
	s := &situation{job: job, now: metav1.NewTime(seen.Now).Rfc3339Copy()} // as precise as the API server keeps it
	s.queue, _ = builder.Lookup[*v1alpha1.FluxSetup](seen, needs.Queue(job))
	if a := job.Status.Admission; a != nil {
		s.lender, _ = builder.Lookup[*v1alpha1.FluxSetup](seen, a.Queue)
	}
	s.namespace, _ = builder.Lookup[*corev1.Namespace](seen, job.Namespace)
	s.cluster, _ = builder.Lookup[*v1alpha1.MiniCluster](seen, job.Name)
	s.jobs = builder.Owned[*batchv1.Job](seen)
	return s
}

// reservation returns the reservation for an attempt of the job in a setup's book, nil if there is none.
func (s *situation) reservation(setup *v1alpha1.FluxSetup, attempt int32) *v1alpha1.FluxReservation {
	if setup == nil {
		return nil
	}
	for i := range setup.Status.Reservations {
		if r := &setup.Status.Reservations[i]; r.UID == s.job.UID && r.Attempt == attempt {
			return r
		}
	}
	return nil
}

// podsGone reports whether nothing of the MiniCluster runs, nor will by itself: it is gone, or has ended, or is suspended
// and has taken note of it; and all pods of its Jobs have ended.
func (s *situation) podsGone() bool {
	if c := s.cluster; c != nil && !isOver(c) && !(c.Spec.Suspend && c.Status.ObservedGeneration == c.Generation) {
		return false
	}
	for _, job := range s.jobs {
		if job.Status.Active > 0 || ptr.Deref(job.Status.Terminating, 0) > 0 {
			return false
		}
		if !hasEnded(job) && !isSuspended(job) {
			return false
		}
	}
	return true
}

// isOver reports whether a MiniCluster has ended.
func isOver(c *v1alpha1.MiniCluster) bool {
	return meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionSucceeded) ||
		meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionFailed)
}

// wasDeleted reports whether the MiniCluster of this run is gone, or about to be, without an end. The job itself deletes
// none that it has let run.
func (s *situation) wasDeleted() bool {
	return s.job.Status.MiniCluster != "" && (s.cluster == nil || s.cluster.DeletionTimestamp != nil)
}

// refusal is the condition that says why the MiniCluster can't be carried out, nil if it can: the API server doesn't let
// it be made, as the builder reports in the job's own conditions; or its own operator finds its spec invalid; or, before
// there is a Job of it, the API server does of what is to be made of it.
func (s *situation) refusal() *metav1.Condition {
	c := s.cluster
	if c == nil {
		own := meta.FindStatusCondition(s.job.Status.Conditions, events.ConditionStalled)
		if own != nil && own.Status == metav1.ConditionTrue && own.Reason == events.ReasonApplyFailed && own.ObservedGeneration == s.job.Generation {
			return own
		}
		return nil
	}
	stalled := meta.FindStatusCondition(c.Status.Conditions, events.ConditionStalled)
	switch {
	case c.Spec.Suspend: // what it says is about an earlier run
		return nil
	case stalled == nil || stalled.Status != metav1.ConditionTrue || stalled.ObservedGeneration != c.Generation:
		return nil
	case stalled.Reason == v1alpha1.ReasonInvalidSpec, stalled.Reason == events.ReasonApplyFailed && len(s.jobs) == 0:
		return stalled
	default:
		return nil
	}
}

// hasEnded reports whether a Job is complete or has failed: it is so only once its pods have ended.
func hasEnded(job *batchv1.Job) bool {
	return jobIs(job, batchv1.JobComplete) || jobIs(job, batchv1.JobFailed)
}

// isSuspended reports whether a Job is suspended, and the Job controller knows.
func isSuspended(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.Suspend, false) && jobIs(job, batchv1.JobSuspended)
}

func jobIs(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
