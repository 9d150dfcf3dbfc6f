package world

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// volumeController binds each PersistentVolumeClaim at once. It creates no PersistentVolumes.
type volumeController struct{}

func (volumeController) Name() string { return "persistent-volume-binder" }

func (volumeController) Changes(s *State) []Change {
	var changes []Change
	for _, claim := range All[*corev1.PersistentVolumeClaim](s) {
		if claim.DeletionTimestamp == nil && claim.Status.Phase == corev1.ClaimPending {
			bind := updateStatus(changed(claim, func(c *corev1.PersistentVolumeClaim) {
				c.Status.Phase = corev1.ClaimBound
				c.Status.Capacity, c.Status.AccessModes = c.Spec.Resources.Requests, c.Spec.AccessModes
			}))
			bind.owner = setOf(s, claim)
			changes = append(changes, bind)
		}
	}
	return changes
}

// disruptionController observes PodDisruptionBudgets. It doesn't count their pods.
type disruptionController struct{}

func (disruptionController) Name() string { return "disruption-controller" }

func (disruptionController) Changes(s *State) []Change {
	var changes []Change
	for _, budget := range All[*policyv1.PodDisruptionBudget](s) {
		if budget.DeletionTimestamp == nil && budget.Status.ObservedGeneration != budget.Generation {
			changes = append(changes, updateStatus(changed(budget, func(b *policyv1.PodDisruptionBudget) {
				b.Status.ObservedGeneration = b.Generation
			})))
		}
	}
	return changes
}
