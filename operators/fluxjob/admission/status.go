package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

// status returns the status that follows from the cohort and the decision.
func (c *cohort) status(state *queue.State, d *decision, now metav1.Time) *v1alpha1.FluxSetupStatus {
	setup := c.setups[c.self]
	s := &v1alpha1.FluxSetupStatus{
		Manager:            c.record(),
		ObservedGeneration: setup.Generation,
		Reservations:       c.enter(state, d, now),
		Usage:              c.usage(d),
		OldestPendingTime:  c.oldestPendingTime(state, d),
		Queue:              c.queue(d),
		QueuePositions:     c.queuePositions(d),
		Conditions:         slices.Clone(setup.Status.Conditions),
	}
	s.AdmittedWorkloads = int32(len(s.Reservations))
	s.PendingWorkloads = int32(c.pending - (len(s.Reservations) - len(c.reservations[c.self])))
	c.setReady(s, state, d, now)
	return s
}

// usage returns what of the setup's quota is used and free.
func (c *cohort) usage(d *decision) []v1alpha1.FluxResourceUsage {
	limits, balance := c.limits(&c.setups[c.self].Spec.Quota), &d.Balance[c.self]
	var all []v1alpha1.FluxResourceUsage
	for r, name := range c.names {
		if limits[r] == queue.Unlimited {
			continue
		}
		resource := corev1.ResourceName(name)
		all = append(all, v1alpha1.FluxResourceUsage{
			Name:    name,
			Quota:   needs.Quantity(resource, limits[r]),
			Used:    needs.Quantity(resource, balance.Used[r]),
			Free:    needs.Quantity(resource, balance.Free[r]),
			Maximum: needs.Quantity(resource, balance.Maximum[r]),
		})
	}
	return all
}

// setReady records whether the queue admits jobs.
func (c *cohort) setReady(status *v1alpha1.FluxSetupStatus, state *queue.State, d *decision, now metav1.Time) {
	setup := c.setups[c.self]
	conditions := lifecycle.ConditionsOf(&status.Conditions, setup.Generation, now)
	problems := validate(&setup.Spec)
	switch {
	case len(problems) > 0:
		conditions.Stall(v1alpha1.ReasonInvalidSpec, message.List(problems, (*field.Error).Error))
		return
	case setup.Spec.StopPolicy == v1alpha1.StopHold || setup.Spec.StopPolicy == v1alpha1.StopHoldAndDrain:
		conditions.Set(events.ConditionReady, false, v1alpha1.ReasonStopped, fmt.Sprintf("spec.stopPolicy is %s", setup.Spec.StopPolicy))
	case c.isFull(state, d):
		conditions.Set(events.ConditionReady, false, v1alpha1.ReasonReservationsFull,
			"the status of one FluxSetup can't record the reservations of all jobs that wait; divide it into several")
	default:
		conditions.Set(events.ConditionReady, true, v1alpha1.ReasonActive, "jobs are admitted while the quota allows it")
	}
	conditions.Remove(events.ConditionStalled)
}
