package admission

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

const (
	// statusDelay is how long a status may wait to be written that differs only in counts and in the order of the waiting jobs: thousands
	// of jobs that are created one after another cost a few writes.
	statusDelay = time.Second
	// leftoverDelay is the delay of the pass that checks again what deleted jobs have left.
	leftoverDelay = time.Minute
	// unseenDelay is for how long a reservation holds whose job isn't in the cache. It is longer than a cache lags behind after a restart.
	unseenDelay = 15 * time.Second
	// readyDelay is the delay of the pass that checks again whether a job has recorded that its pods were ready in time.
	readyDelay = 15 * time.Second
	// reclaimDelay is the delay of the pass that checks again which jobs of the cohort reclaim quota.
	reclaimDelay = time.Minute
)

// Plan is the plan of a manager that watches the whole cluster. It is a [builder.PlanFunc].
func Plan(setup *v1alpha1.FluxSetup, view builder.View) builder.Plan[*v1alpha1.FluxSetup] {
	return Manager{}.Plan(setup, view)
}

// Plan decides which jobs a FluxSetup admits and evicts. It is a [builder.PlanFunc].
func (m Manager) Plan(setup *v1alpha1.FluxSetup, view builder.View) builder.Plan[*v1alpha1.FluxSetup] {
	if setup.DeletionTimestamp != nil {
		return builder.Plan[*v1alpha1.FluxSetup]{} // its jobs have a record of what they hold
	}
	now := metav1.NewTime(view.Now).Rfc3339Copy() // to the second, as the API keeps it
	c, state := m.observe(setup, view)
	d := c.decide(&state, view.Now)
	if !c.mine && d.takeover == "" {
		return c.refuse(d, now)
	}
	status := c.status(&state, d, now)
	ready := lifecycle.TransitionOf(setup.Status.Conditions, status.Conditions, events.ConditionReady)
	plan := builder.Plan[*v1alpha1.FluxSetup]{
		RequeueAfter: c.requeueAfter(d, view.Now),
		Events: slices.Concat(c.tookOver(d),
			ready.Events(metav1.ConditionTrue, events.Normal), ready.Events(metav1.ConditionFalse, events.Warning)),
	}
	change := func() *v1alpha1.FluxSetup {
		changed := *setup
		changed.Status = *status
		return &changed
	}
	return lifecycle.WithStatus(plan, &setup.Status, status, change, statusDelay, func() bool {
		return sameReservations(status.Reservations, setup.Status.Reservations) && len(plan.Events) == 0 &&
			setup.Status.ObservedGeneration == setup.Generation && equality.Semantic.DeepEqual(status.Manager, setup.Status.Manager)
	})
}

// requeueAfter returns the time until the next pass: the end of a backoff or of a readiness timeout, or the next check of what no event
// announces. 0: there is none.
func (c *cohort) requeueAfter(d *decision, now time.Time) time.Duration {
	var after time.Duration
	if !d.Next.IsZero() {
		after = max(d.Next.Sub(now), lifecycle.Soon)
	}
	for i := range c.reservations[c.self] {
		r := &c.reservations[c.self][i]
		job := c.known.jobs[r.UID]
		switch {
		case !c.decidesFor(r.Namespace), job != nil && (job.DeletionTimestamp == nil || c.known.orphan(r, c.setups[c.self].Name) == nil):
		case job == nil && c.known.isUnseen(r):
			after = lifecycle.Soonest(after, max(r.Time.Add(unseenDelay).Sub(now), lifecycle.Soon))
		default:
			after = lifecycle.Soonest(after, leftoverDelay)
		}
	}
	if c.mayBeReclaimedUnseen(d) {
		after = lifecycle.Soonest(after, reclaimDelay)
	}
	return after
}

// mayBeReclaimedUnseen reports whether a job in another setup's queue may come to preempt a holder of this one without a change of a
// status: the status of its own setup, which would enqueue this one, shows only the first jobs of the queue.
func (c *cohort) mayBeReclaimedUnseen(d *decision) bool {
	if !c.mayAdmit || len(c.reservations[c.self]) == 0 {
		return false
	}
	for i, setup := range c.setups {
		if i != c.self && setup.Spec.Preemption == v1alpha1.PreemptionLowerPriority && len(d.Waiting[i]) > v1alpha1.MaxFluxQueueEntries {
			return true
		}
	}
	return false
}

// sameReservations reports whether two lists have the same reservations, with the same marks of eviction.
func sameReservations(a, b []v1alpha1.FluxReservation) bool {
	return slices.EqualFunc(a, b, func(a, b v1alpha1.FluxReservation) bool {
		return a.UID == b.UID && a.Attempt == b.Attempt && (a.Evicted == nil) == (b.Evicted == nil)
	})
}
