package readiness

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// replicas is a count of pods that must reach the desired number.
type replicas struct {
	name string
	has  int32
}

// short returns the first count that is below the desired number.
func short(desired int32, counts ...replicas) (Status, bool) {
	for _, c := range counts {
		if c.has < desired {
			return inProgress("%d of %d %s", c.has, desired, c.name), true
		}
	}
	return Status{Ready: true}, false
}

// desiredReplicas returns the replicas of a workload, with the API server's default.
func desiredReplicas(n *int32) int32 { return ptr.Deref(n, 1) }

// ofDeployment evaluates a Deployment: ready when observed, all pods are of the newest template and available, and no older pod is
// left. It has failed after no progress for spec.progressDeadlineSeconds (600 by default).
func ofDeployment(d *appsv1.Deployment) Status {
	if s, is := unobserved(d, d.Status.ObservedGeneration); is {
		return s
	}
	failure := ""
	for i := range d.Status.Conditions {
		switch c := &d.Status.Conditions[i]; {
		case c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse && c.Reason == "ProgressDeadlineExceeded":
			return failed("ProgressDeadlineExceeded: %s", c.Message)
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue:
			failure = "; " + why(c.Reason, c.Message)
		}
	}
	desired := desiredReplicas(d.Spec.Replicas)
	if s, is := short(desired, replicas{"replicas updated", d.Status.UpdatedReplicas}); is {
		s.Message = oneLine(s.Message + failure)
		return s
	}
	if old := d.Status.Replicas - desired; old > 0 {
		return inProgress("%d surplus replicas are to go", old)
	}
	if s, is := short(desired, replicas{"replicas ready", d.Status.ReadyReplicas},
		replicas{"replicas available", d.Status.AvailableReplicas}); is {
		return s
	}
	return Status{Ready: true}
}

// ofStatefulSet evaluates a StatefulSet: ready when observed, and all pods exist, are available and are of the newest template:
// currentRevision is updateRevision. With a partition, that many pods keep their template; with OnDelete all do until someone deletes
// them, and the rule doesn't wait for that. A StatefulSet never reports a failure.
func ofStatefulSet(s *appsv1.StatefulSet) Status {
	if st, is := unobserved(s, s.Status.ObservedGeneration); is {
		return st
	}
	desired := desiredReplicas(s.Spec.Replicas)
	if st, is := short(desired, replicas{"replicas", s.Status.Replicas}, replicas{"replicas ready", s.Status.ReadyReplicas},
		replicas{"replicas available", s.Status.AvailableReplicas}); is {
		return st
	}
	if extra := s.Status.Replicas - desired; extra > 0 {
		return inProgress("%d surplus replicas are to go", extra)
	}
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return Status{Ready: true}
	}
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil && *r.Partition > 0 {
		if st, is := short(desired-*r.Partition, replicas{"replicas updated", s.Status.UpdatedReplicas}); is {
			return st
		}
		return Status{Ready: true}
	}
	if s.Status.CurrentRevision != s.Status.UpdateRevision {
		return inProgress("%d of %d replicas updated", s.Status.UpdatedReplicas, desired)
	}
	return Status{Ready: true}
}

// ofDaemonSet evaluates a DaemonSet: ready when observed, and each node that should have a pod has an available one of the newest
// template. With OnDelete pods keep their template until someone deletes them, and the rule doesn't wait for that.
func ofDaemonSet(d *appsv1.DaemonSet) Status {
	if s, is := unobserved(d, d.Status.ObservedGeneration); is {
		return s
	}
	desired := d.Status.DesiredNumberScheduled
	updated := d.Status.UpdatedNumberScheduled
	if d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		updated = desired
	}
	if s, is := short(desired, replicas{"pods scheduled", d.Status.CurrentNumberScheduled}, replicas{"pods updated", updated},
		replicas{"pods ready", d.Status.NumberReady}, replicas{"pods available", d.Status.NumberAvailable}); is {
		return s
	}
	return Status{Ready: true}
}

// ofReplicaSet evaluates a ReplicaSet: ready when observed, and all pods are available.
func ofReplicaSet(r *appsv1.ReplicaSet) Status {
	if s, is := unobserved(r, r.Status.ObservedGeneration); is {
		return s
	}
	desired := desiredReplicas(r.Spec.Replicas)
	if s, is := short(desired, replicas{"replicas ready", r.Status.ReadyReplicas},
		replicas{"replicas available", r.Status.AvailableReplicas}); is {
		return s
	}
	if extra := r.Status.Replicas - desired; extra > 0 {
		return inProgress("%d surplus replicas are to go", extra)
	}
	return Status{Ready: true}
}
