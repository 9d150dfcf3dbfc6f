package admission

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
	"github.com/armature-dev/armature/operators/fluxjob/queue"
	text "github.com/armature-dev/armature/operators/internal/message"
)

// usage returns what of the setup's quota is used and free.
func (c *cohort) usage(d *queue.Decisions) []v1alpha1.FluxResourceUsage {
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

// setReady says whether the queue admits jobs.
func setReady(status *v1alpha1.FluxSetupStatus, setup *v1alpha1.FluxSetup, now metav1.Time) {
	value, reason, message := metav1.ConditionTrue, v1alpha1.ReasonActive, "jobs are admitted while the quota allows it"
	problems := validate(&setup.Spec)
	switch {
	case len(problems) > 0:
		value, reason, message = metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, text.List(problems, (*field.Error).Error)
	case setup.Spec.StopPolicy == v1alpha1.StopHold || setup.Spec.StopPolicy == v1alpha1.StopHoldAndDrain:
		value, reason, message = metav1.ConditionFalse, v1alpha1.ReasonStopped, fmt.Sprintf("spec.stopPolicy is %s", setup.Spec.StopPolicy)
	case len(status.Reservations) >= v1alpha1.MaxFluxReservations:
		value, reason = metav1.ConditionFalse, v1alpha1.ReasonReservationsFull
		message = fmt.Sprintf("%d jobs are admitted, the most that one FluxSetup can have; divide it into several", len(status.Reservations))
	}
	condition := func(kind string, value metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{
			Type: kind, Status: value, Reason: reason, Message: message,
			ObservedGeneration: setup.Generation, LastTransitionTime: now,
		}
	}
	meta.SetStatusCondition(&status.Conditions, condition(events.ConditionReady, value))
	if len(problems) > 0 {
		meta.SetStatusCondition(&status.Conditions, condition(events.ConditionStalled, metav1.ConditionTrue))
	} else {
		meta.RemoveStatusCondition(&status.Conditions, events.ConditionStalled)
	}
}
