package replicajob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/intervals"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/store"
)

// tellCounts sets the status of each type from its replicas.
func (j *job) tellCounts(s *v1alpha1.ReplicaJobStatus, r *roster) {
	s.ObservedGeneration = j.generation
	s.TotalRestarts = s.Restarts
	s.ReplicaStatuses = make(map[v1alpha1.ReplicaType]v1alpha1.ReplicaStatus, len(r.teams))
	for _, t := range r.teams {
		rs := v1alpha1.ReplicaStatus{
			Selector:        j.selectorOfType(t).String(),
			Restarts:        t.restarts(),
			ReplicaRestarts: t.restartsByIndex(),
			SucceededIndexes: intervals.Format(len(t.slots), func(i int) bool {
				return t.slots[i].state == succeeded
			}),
		}
		for i := range t.slots {
			switch t.slots[i].state {
			case running:
				rs.Active++
			case succeeded:
				rs.Succeeded++
			case failed:
				rs.Failed++
			default:
				rs.Pending++
			}
		}
		s.ReplicaStatuses[t.name] = rs
		s.TotalRestarts += rs.Restarts
	}
}

// counts are all replicas of a job.
type counts struct {
	active, pending, succeeded, failed int32
}

func countsOf(s *v1alpha1.ReplicaJobStatus) counts {
	var c counts
	for _, rs := range s.ReplicaStatuses {
		c.active += rs.Active
		c.pending += rs.Pending
		c.succeeded += rs.Succeeded
		c.failed += rs.Failed
	}
	return c
}

func (c counts) String() string {
	text := fmt.Sprintf("%d running, %d pending, %d succeeded", c.active, c.pending, c.succeeded)
	if c.failed > 0 {
		text += fmt.Sprintf(", %d failed", c.failed)
	}
	return text
}

// tellGoingOn sets the conditions of a job that has been started. Restarting says why replicas are being made again;
// empty: none of them fails now. Running and Restarting are never both true: a restart is over when no replica is
// pending any more.
func (j *job) tellGoingOn(s *v1alpha1.ReplicaJobStatus, r *roster, restarting string) {
	j.set(s, v1alpha1.ConditionCreated, true, v1alpha1.ReasonCreated, "the job is valid, and known to the operator")
	unstall(s)
	c := countsOf(s)
	isRestarting := meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionRestarting)
	switch {
	case restarting != "":
		j.tellRestarting(s, v1alpha1.ReasonReplicaRestarting, restarting)
		return
	case isRestarting && (c.pending > 0 || len(r.old) > 0):
		j.tellRestarting(s, "", "")
		return
	case isRestarting:
		j.set(s, v1alpha1.ConditionRestarting, false, v1alpha1.ReasonRestarted, "all replicas are back")
	}
	switch {
	case c.active > 0:
		j.set(s, v1alpha1.ConditionRunning, true, v1alpha1.ReasonRunning, "replicas are running")
		s.State = v1alpha1.ReplicaJobRunning
	default:
		j.set(s, v1alpha1.ConditionRunning, false, v1alpha1.ReasonNotRunning, "no replica is running")
		s.State = v1alpha1.ReplicaJobCreated
	}
	reason := v1alpha1.ReasonPending
	if c.active > 0 {
		reason = v1alpha1.ReasonRunning
	}
	message := c.String()
	if j.world.Size() == 0 {
		message = "there are no replicas: all types have 0, and the job goes on when one of them gets some"
	}
	j.set(s, events.ConditionReady, false, reason, message)
}

// tellWaiting says what objects are in the way of the job's and being deleted: those of an earlier job of its name.
func (j *job) tellWaiting(conditions *[]metav1.Condition, gone []store.Key) {
	if len(gone) == 0 {
		return
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: events.ConditionReady, Status: metav1.ConditionFalse, Reason: events.ReasonWaiting,
		Message:            message.Shorten("waiting for the deletion of " + list(gone, store.Key.String)),
		ObservedGeneration: j.generation, LastTransitionTime: j.now,
	})
}

// tellRestarting sets the conditions of a job of which replicas are made again. Without a reason it is still the one
// that was told of before.
func (j *job) tellRestarting(s *v1alpha1.ReplicaJobStatus, reason, message string) {
	if before := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionRestarting); reason == "" && before != nil {
		reason, message = before.Reason, before.Message
	}
	j.set(s, v1alpha1.ConditionRestarting, true, reason, message)
	j.set(s, v1alpha1.ConditionRunning, false, reason, "replicas are being made again")
	j.set(s, events.ConditionReady, false, reason, countsOf(s).String())
	s.State = v1alpha1.ReplicaJobRestarting
}

// tellEnd sets the conditions of a job that has ended.
func (j *job) tellEnd(s *v1alpha1.ReplicaJobStatus, v verdict) {
	s.CompletionTime = j.now.DeepCopy()
	if v.at != nil && v.at.Before(&j.now) { // clocks of nodes may be ahead
		s.CompletionTime = v.at.DeepCopy()
	}
	if s.CompletionTime.Before(s.StartTime) {
		s.CompletionTime = s.StartTime.DeepCopy()
	}
	j.set(s, v1alpha1.ConditionRunning, false, v.reason, "the job has ended")
	if meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionRestarting) != nil {
		j.set(s, v1alpha1.ConditionRestarting, false, v.reason, "the job has ended")
	}
	if v.kind == hasSucceeded {
		s.State = v1alpha1.ReplicaJobSucceeded
		j.set(s, v1alpha1.ConditionSucceeded, true, v.reason, v.message)
		j.set(s, events.ConditionReady, true, v.reason, v.message)
		unstall(s)
		return
	}
	s.State = v1alpha1.ReplicaJobFailed
	j.set(s, v1alpha1.ConditionFailed, true, v.reason, v.message)
	j.set(s, events.ConditionReady, false, v.reason, v.message)
	j.set(s, events.ConditionStalled, true, v.reason, v.message)
}

// unstall takes back what refuse said. What the builder said of the children is the builder's to take back.
func unstall(s *v1alpha1.ReplicaJobStatus) {
	stalled := meta.FindStatusCondition(s.Conditions, events.ConditionStalled)
	if stalled != nil && (stalled.Reason == v1alpha1.ReasonInvalidSpec || stalled.Reason == v1alpha1.ReasonNoGangScheduler) {
		meta.RemoveStatusCondition(&s.Conditions, events.ConditionStalled)
	}
	failed := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionFailed)
	if failed != nil && failed.Reason == v1alpha1.ReasonInvalidSpec {
		meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionFailed)
	}
}

func (j *job) set(s *v1alpha1.ReplicaJobStatus, kind string, is bool, reason, text string) {
	value := metav1.ConditionFalse
	if is {
		value = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: message.Shorten(text),
		ObservedGeneration: j.generation, LastTransitionTime: j.now,
	})
}

// isTransition reports whether a status says something other than new counts.
func isTransition(before, after *v1alpha1.ReplicaJobStatus) bool {
	if before.State != after.State || before.ObservedGeneration != after.ObservedGeneration ||
		len(before.Conditions) != len(after.Conditions) {
		return true
	}
	for i := range after.Conditions {
		c := &after.Conditions[i]
		was := meta.FindStatusCondition(before.Conditions, c.Type)
		if was == nil || was.Status != c.Status || was.Reason != c.Reason {
			return true
		}
	}
	return false
}
