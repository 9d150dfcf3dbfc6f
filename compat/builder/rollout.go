package builder

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// ReconcileDeployOrSts makes the Deployments and StatefulSets as they are wanted.
//
// At first, while the owner's generation is 1 (or 0, if its kind has none), all at once. After that they are upgraded
// in the order of the list: one that was written, or isn't rolled out yet, ends the pass, and the next one is its
// successor's turn. Watch what you own (Owns), or requeue, for there to be a next pass. A rollout that doesn't end
// halts those behind it.
func (s *Builder) ReconcileDeployOrSts() (controllerutil.OperationResult, error) {
	const what = "DeployOrSts"
	wants, err := s.wantWorkloads()
	if err != nil {
		return controllerutil.OperationResultNone, s.ended(what, err)
	}
	wants = lastOfEach(wants)
	if !isUpgrade(wants) {
		return s.run(what, wants, nil)
	}
	s.put(wants) // also those that aren't reached
	for _, w := range wants {
		result, err := s.apply(what, []want{w})
		if err != nil || result != controllerutil.OperationResultNone {
			return result, s.ended(what, err)
		}
		done, err := w.isRolledOut(s.context())
		if err != nil || !done {
			return result, s.ended(what, err)
		}
	}
	return controllerutil.OperationResultNone, s.ended(what, nil)
}

func isUpgrade(wants []want) bool {
	for _, w := range wants {
		if cr := w.common.CrObject; !isNil(cr) && cr.GetGeneration() > 1 {
			return true
		}
	}
	return false
}

// isRolledOut reports whether all pods of a workload are of its newest template, and ready.
func (w want) isRolledOut(ctx context.Context) (bool, error) {
	key := client.ObjectKeyFromObject(w.object)
	var done bool
	var err error
	if w.kind == kindDeployment {
		d := &appsv1.Deployment{}
		err = w.common.Client.Get(ctx, key, d)
		done = isDeploymentRolledOut(d)
	} else {
		d := &appsv1.StatefulSet{}
		err = w.common.Client.Get(ctx, key, d)
		done = isStatefulSetRolledOut(d)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", w, err)
	}
	return done, nil
}

func isDeploymentRolledOut(d *appsv1.Deployment) bool {
	wanted := ptr.Deref(d.Spec.Replicas, 1)
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return false
		}
	}
	return d.Status.ObservedGeneration >= d.Generation &&
		d.Status.UpdatedReplicas == wanted && d.Status.Replicas == wanted && d.Status.AvailableReplicas == wanted
}

func isStatefulSetRolledOut(d *appsv1.StatefulSet) bool {
	wanted := ptr.Deref(d.Spec.Replicas, 1)
	return d.Status.ObservedGeneration >= d.Generation && d.Status.CurrentRevision == d.Status.UpdateRevision &&
		d.Status.Replicas == wanted && d.Status.ReadyReplicas == wanted
}
