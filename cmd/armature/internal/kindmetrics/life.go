package kindmetrics

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// state is how far an object is.
type state string

const (
	waiting  state = "waiting" // not started: it is suspended, invalid, or queued
	active   state = "active"
	finished state = "finished"
)

// share is what a FluxJob has got of a queue.
type share struct {
	queue string
	// of is the admission, by its time. Zero while there is none.
	of time.Time
	// waited is the time that the job waited for it: since its creation, or since it lost the last one.
	waited time.Duration
}

// shareOf reads a FluxJob. What Kueue gives isn't waited for here.
func shareOf(obj any) share {
	job, ok := obj.(*v1alpha1.FluxJob)
	if !ok || job.Status.Admission == nil || job.Status.Admission.Queue == "" {
		return share{}
	}
	since := job.CreationTimestamp.Time
	if last := job.Status.LastEviction; last != nil && last.Time.After(since) {
		since = last.Time.Time
	}
	given := job.Status.Admission
	return share{given.Queue, given.Time.Time, max(given.Time.Sub(since), 0)}
}

// life has the times of an object by its status.
type life struct {
	created        time.Time
	started, ended *metav1.Time
	conditions     []metav1.Condition
}

// lifeOf reads an object of one of Armature's kinds that run something.
func lifeOf(obj any) (life, bool) {
	switch o := obj.(type) {
	case *v1alpha1.DaemonJob:
		return newLife(o, o.Status.StartTime, o.Status.CompletionTime, o.Status.Conditions), true
	case *v1alpha1.FluxJob:
		return newLife(o, o.Status.StartTime, o.Status.CompletionTime, o.Status.Conditions), true
	case *v1alpha1.JobFlow:
		return newLife(o, o.Status.StartTime, o.Status.CompletionTime, o.Status.Conditions), true
	case *v1alpha1.MiniCluster:
		return newLife(o, o.Status.StartTime, o.Status.CompletionTime, o.Status.Conditions), true
	case *v1alpha1.ReplicaJob:
		return newLife(o, o.Status.StartTime, o.Status.CompletionTime, o.Status.Conditions), true
	default:
		return life{}, false
	}
}

func newLife(o client.Object, started, ended *metav1.Time, conditions []metav1.Condition) life {
	return life{o.GetCreationTimestamp().Time, started, ended, conditions}
}

func (l life) state() state {
	switch {
	case l.ended != nil:
		return finished
	case l.started != nil:
		return active
	default:
		return waiting
	}
}

// The outcomes of an object.
const (
	succeeded = "succeeded"
	failed    = "failed"
)

// outcome is how it ended: succeeded or failed.
func (l life) outcome() string {
	if meta.IsStatusConditionTrue(l.conditions, v1alpha1.ConditionSucceeded) {
		return succeeded
	}
	return failed
}

// latency is how long it took from its creation to its start.
func (l life) latency() time.Duration { return max(l.started.Sub(l.created), 0) }

// duration is how long it ran; of one that ended without a start, how long it was there.
func (l life) duration() time.Duration {
	if l.started == nil {
		return max(l.ended.Sub(l.created), 0)
	}
	return max(l.ended.Sub(l.started.Time), 0)
}
