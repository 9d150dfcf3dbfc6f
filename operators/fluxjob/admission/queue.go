package admission

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
)

// reasons are those of the queue in the words of the API.
var reasons = map[queue.Reason]string{
	queue.WaitingForQuota: v1alpha1.ReasonWaitingForQuota,
	queue.Preempting:      v1alpha1.ReasonPreempting,
	queue.BlockedByHead:   v1alpha1.ReasonBlockedByHeadOfQueue,
	queue.Backoff:         v1alpha1.ReasonBackoff,
	queue.Stopped:         v1alpha1.ReasonQueueStopped,
}

// queue returns the first of the waiting jobs, and the reason of each.
func (c *cohort) queue(d *decision) []v1alpha1.FluxQueueEntry {
	waiting := d.Waiting[c.self]
	var entries []v1alpha1.FluxQueueEntry
	for _, i := range waiting[:min(len(waiting), v1alpha1.MaxFluxQueueEntries)] {
		why := d.Why[i]
		entry := v1alpha1.FluxQueueEntry{Namespace: c.jobs[i].Namespace, Name: c.jobs[i].Name, Reason: reasons[why.Reason]}
		if why.Reason == queue.Stopped && !c.mayAdmit {
			entry.Reason = v1alpha1.ReasonQueued
		}
		switch {
		case c.lacksRecord(why):
			entry.Reason = v1alpha1.ReasonReservationsFull
		case why.Reason == queue.WaitingForQuota:
			entry.Resource = c.names[why.Resource]
		}
		entries = append(entries, entry)
	}
	return entries
}

// queuePositions returns the jobs at the positions from which the jobs beyond the queue's entries derive their own: each is
// about twice the one before.
func (c *cohort) queuePositions(d *decision) []v1alpha1.FluxQueuePosition {
	waiting := d.Waiting[c.self]
	var positions []v1alpha1.FluxQueuePosition
	for position := range needs.Positions(len(waiting)) {
		job := c.jobs[waiting[position-1]]
		positions = append(positions, v1alpha1.FluxQueuePosition{
			Position: int32(position), Priority: c.priority(c.self, job), QueuedTime: metav1.NewTime(needs.Since(job)),
			Namespace: job.Namespace, Name: job.Name,
		})
	}
	return positions
}

// oldestPendingTime returns when the first of those who wait was created, those included who can't be admitted as they are.
func (c *cohort) oldestPendingTime(state *queue.State, d *decision) *metav1.Time {
	admitted := make([]bool, len(c.jobs))
	for _, i := range d.Admitted {
		admitted[i] = true
	}
	first := c.oldestExcluded
	for i, job := range c.jobs {
		if state.Jobs[i].Setup == c.self && !admitted[i] {
			first = earlier(first, &job.CreationTimestamp)
		}
	}
	return first.DeepCopy()
}

// earlier returns the earlier of two times. Nil is none.
func earlier(a, b *metav1.Time) *metav1.Time {
	if a == nil || b.Before(a) {
		return b
	}
	return a
}
