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

// ReconcileDeployOrSts applies the desired Deployments and StatefulSets.
//
// While the owner's generation is 1 (or 0, if its kind has none), it applies all at once. After that it upgrades them in the order of
// the list: if it writes a workload, or finds one that isn't rolled out yet, the pass ends, and a later pass continues with the next
// workload. Watch the owned kinds (Owns), or requeue, to cause a next pass. A rollout that doesn't end stops the later ones.
func (s *Builder) ReconcileDeployOrSts() (controllerutil.OperationResult, error) {
	const what = "DeployOrSts"
	objects, err := s.desiredWorkloads()
	if err != nil {
		return controllerutil.OperationResultNone, s.ended(what, err)
	}
	objects = lastOfEach(objects)
	if !isUpgrade(objects) {
		return s.run(what, objects, nil)
	}
	s.put(objects) // also those after a workload that isn't rolled out
	for _, d := range objects {
		result, err := s.apply(what, []desired{d})
		if err != nil || result != controllerutil.OperationResultNone {
			return result, s.ended(what, err)
		}
		done, err := d.isRolledOut(s.context())
		if err != nil || !done {
			return result, s.ended(what, err)
		}
	}
	return controllerutil.OperationResultNone, s.ended(what, nil)
}

func isUpgrade(objects []desired) bool {
	for _, d := range objects {
		if cr := d.common.CrObject; !isNil(cr) && cr.GetGeneration() > 1 {
			return true
		}
	}
	return false
}

// isRolledOut reports whether all pods of a workload are of its newest template, and ready.
func (d desired) isRolledOut(ctx context.Context) (bool, error) {
	key := client.ObjectKeyFromObject(d.object)
	var done bool
	var err error
	if d.kind == kindDeployment {
		deployment := &appsv1.Deployment{}
		err = d.common.Client.Get(ctx, key, deployment)
		done = isDeploymentRolledOut(deployment)
	} else {
		sts := &appsv1.StatefulSet{}
		err = d.common.Client.Get(ctx, key, sts)
		done = isStatefulSetRolledOut(sts)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", d, err)
	}
	return done, nil
}

func isDeploymentRolledOut(d *appsv1.Deployment) bool {
	replicas := ptr.Deref(d.Spec.Replicas, 1)
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return false
		}
	}
	return d.Status.ObservedGeneration >= d.Generation &&
		d.Status.UpdatedReplicas == replicas && d.Status.Replicas == replicas && d.Status.AvailableReplicas == replicas
}

func isStatefulSetRolledOut(d *appsv1.StatefulSet) bool {
	replicas := ptr.Deref(d.Spec.Replicas, 1)
	return d.Status.ObservedGeneration >= d.Generation && d.Status.CurrentRevision == d.Status.UpdateRevision &&
		d.Status.Replicas == replicas && d.Status.ReadyReplicas == replicas
}
