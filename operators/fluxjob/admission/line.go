package admission

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
	"github.com/armature-dev/armature/operators/fluxjob/queue"
)

// reasons are those of the queue in the words of the API.
var reasons = map[queue.Reason]string{
	queue.WaitingForQuota: v1alpha1.ReasonWaitingForQuota,
	queue.Preempting:      v1alpha1.ReasonPreempting,
	queue.BlockedByHead:   v1alpha1.ReasonBlockedByHeadOfQueue,
	queue.Backoff:         v1alpha1.ReasonBackoff,
	queue.Stopped:         v1alpha1.ReasonQueueStopped,
}

// line returns the first of those who wait, and why.
func (c *cohort) line(d *queue.Decisions) []v1alpha1.FluxLinePlace {
	waiting := d.Waiting[c.self]
	var line []v1alpha1.FluxLinePlace
	for _, i := range waiting[:min(len(waiting), v1alpha1.MaxFluxLine)] {
		why := d.Why[i]
		place := v1alpha1.FluxLinePlace{Namespace: c.jobs[i].Namespace, Name: c.jobs[i].Name, Reason: reasons[why.Reason]}
		if why.Reason == queue.Stopped && !c.gives {
			place.Reason = v1alpha1.ReasonQueued
		}
		if why.Reason == queue.WaitingForQuota {
			place.Resource = c.names[why.Resource]
		}
		line = append(line, place)
	}
	return line
}

// marks returns who is at the positions by which those beyond the line know about where they are: each is some twice
// the one before.
func (c *cohort) marks(d *queue.Decisions) []v1alpha1.FluxLineMark {
	waiting := d.Waiting[c.self]
	var marks []v1alpha1.FluxLineMark
	for position := range needs.Positions(len(waiting)) {
		job := c.jobs[waiting[position-1]]
		marks = append(marks, v1alpha1.FluxLineMark{
			Position: int32(position), Priority: c.priority(c.self, job), Since: metav1.NewTime(needs.Since(job)),
			Namespace: job.Namespace, Name: job.Name,
		})
	}
	return marks
}

// longestWait returns when the first of those who wait was created, those included who can't be admitted as they are.
func (c *cohort) longestWait(state *queue.State, d *queue.Decisions) *metav1.Time {
	admitted := make([]bool, len(c.jobs))
	for _, i := range d.Admitted {
		admitted[i] = true
	}
	first := c.aside
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
