package admission

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
)

// decision is what a pass decides.
type decision struct {
	queue.Decisions        // about all setups of the cohort
	takeover        string // why this manager takes the setup over from another one; empty: it doesn't
}

// decide returns which jobs of the cohort are admitted and evicted, and whether this manager takes the setup over.
func (c *cohort) decide(state *queue.State, now time.Time) *decision {
	d := &decision{Decisions: queue.Decide(*state)}
	d.takeover = c.takesOver(d, now)
	return d
}

// enter returns the setup's reservations after the decisions about it. The decisions about the other setups of the cohort are for their
// own passes.
func (c *cohort) enter(state *queue.State, d *decision, now metav1.Time) []v1alpha1.FluxReservation {
	entered := slices.Clone(c.reservations[c.self])
	if !c.mayAdmit { // not before all setups of the cohort name this manager
		return entered
	}
	first := 0 // of the setup's own among the holders
	for i := range c.self {
		first += len(c.reservations[i])
	}
	for _, e := range d.Evicted {
		if state.Holders[e.Holder].Setup == c.self {
			entered[e.Holder-first].Evicted = c.eviction(state, e, now)
		}
	}
	for _, i := range d.Admitted {
		if state.Jobs[i].Setup != c.self {
			continue
		}
		job := c.jobs[i]
		share := needs.Of(job, c.setups[c.self])
		entered = append(entered, v1alpha1.FluxReservation{
			Namespace: job.Namespace, Name: job.Name, UID: job.UID, Attempt: job.Status.Attempts + 1, Time: now, Generation: job.Generation,
			Size: share.Size, Pods: share.Pods, Resources: share.Resources,
		})
	}
	return entered
}

// eviction returns why a holder is evicted. It names no job of another namespace.
func (c *cohort) eviction(state *queue.State, e queue.Eviction, now metav1.Time) *v1alpha1.FluxEviction {
	evicted := &v1alpha1.FluxEviction{Time: now}
	switch setup := c.setups[c.self]; e.Cause {
	case queue.Preempted:
		job := &state.Jobs[e.For]
		evicted.Reason = v1alpha1.ReasonPreempted
		evicted.Message = fmt.Sprintf("preempted by a job of priority %d in queue %q", job.Priority, c.setups[job.Setup].Name)
	case queue.NotReady:
		evicted.Reason = v1alpha1.ReasonNotReady
		evicted.Message = fmt.Sprintf("not all pods were ready %d seconds after the admission", setup.Spec.Readiness.TimeoutSeconds)
	default:
		evicted.Reason = v1alpha1.ReasonQueueStopped
		evicted.Message = fmt.Sprintf("queue %q has stopPolicy %s", setup.Name, v1alpha1.StopHoldAndDrain)
	}
	return evicted
}
