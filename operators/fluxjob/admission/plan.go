package admission

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

const (
	// countersCanWait is how long the counts and the line may lag behind, so that thousands of jobs that are created one
	// after another don't cause as many writes.
	countersCanWait = time.Second
	// lingering is how soon to look again for what jobs that are gone have left.
	lingering = time.Minute
)

// Plan is that of a manager that sees the whole cluster. It is a [builder.PlanFunc].
func Plan(setup *v1alpha1.FluxSetup, seen builder.View) builder.Plan[*v1alpha1.FluxSetup] {
	return Manager{}.Plan(setup, seen)
}

// Plan says what a FluxSetup's book is now. It is a [builder.PlanFunc].
func (m Manager) Plan(setup *v1alpha1.FluxSetup, seen builder.View) builder.Plan[*v1alpha1.FluxSetup] {
	if setup.DeletionTimestamp != nil {
		return builder.Plan[*v1alpha1.FluxSetup]{} // its book goes with it; its jobs know what they hold
	}
	now := metav1.NewTime(seen.Now).Rfc3339Copy() // as precise as the API server keeps it
	c, state := m.gather(setup, seen)
	d := queue.Decide(state)
	why := c.takesOver(&d, seen.Now)
	if !c.mine && why == "" {
		return c.refuse(&d, now)
	}

	status := v1alpha1.FluxSetupStatus{
		Manager:            c.record(),
		ObservedGeneration: setup.Generation,
		Reservations:       c.enter(&state, &d, now),
		Usage:              c.usage(&d),
		OldestPendingTime:  c.oldestPendingTime(&state, &d),
		Queue:              c.queue(&d),
		QueuePositions:     c.queuePositions(&d),
		Conditions:         slices.Clone(setup.Status.Conditions),
	}
	status.AdmittedWorkloads = int32(len(status.Reservations))
	status.PendingWorkloads = int32(c.pending - (len(status.Reservations) - len(c.books[c.self])))
	setReady(&status, setup, now)

	plan := builder.Plan[*v1alpha1.FluxSetup]{RequeueAfter: c.again(&d, seen.Now)}
	if equality.Semantic.DeepEqual(&status, &setup.Status) {
		return plan
	}
	after := *setup
	after.Status = status
	plan.Status = &after
	plan.Events = append(c.tookOver(why), stateChanged(setup, &status)...)
	if sameBook(status.Reservations, setup.Status.Reservations) && len(plan.Events) == 0 &&
		setup.Status.ObservedGeneration == setup.Generation && equality.Semantic.DeepEqual(status.Manager, setup.Status.Manager) {
		plan.StatusCanWait = countersCanWait
	}
	return plan
}

// again says when to look again. Time brings backoffs and readiness timeouts to an end.
func (c *cohort) again(d *queue.Decisions, now time.Time) time.Duration {
	var after time.Duration
	if !d.Next.IsZero() {
		after = max(d.Next.Sub(now), time.Millisecond)
	}
	gone := func(r v1alpha1.FluxReservation) bool { return c.known.jobs[r.UID] == nil && c.judges(r.Namespace) }
	if slices.ContainsFunc(c.books[c.self], gone) {
		after = lifecycle.Soonest(after, lingering)
	}
	return after
}

// sameBook reports whether two books give the same to the same.
func sameBook(a, b []v1alpha1.FluxReservation) bool {
	return slices.EqualFunc(a, b, func(a, b v1alpha1.FluxReservation) bool {
		return a.UID == b.UID && a.Attempt == b.Attempt && (a.Evicted == nil) == (b.Evicted == nil)
	})
}

// stateChanged returns an event if the queue opens or closes.
func stateChanged(setup *v1alpha1.FluxSetup, status *v1alpha1.FluxSetupStatus) []events.Event {
	before := meta.FindStatusCondition(setup.Status.Conditions, events.ConditionReady)
	after := meta.FindStatusCondition(status.Conditions, events.ConditionReady)
	switch {
	case before != nil && before.Reason == after.Reason && before.Message == after.Message:
		return nil
	case after.Status == metav1.ConditionTrue:
		return []events.Event{events.Normal(after.Reason, after.Message)}
	default:
		return []events.Event{events.Warning(after.Reason, after.Message)}
	}
}
