package readiness

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// ofJob evaluates a Job: ready when complete, failed if its condition Failed, or FailureTarget, which precedes it, is True.
func ofJob(j *batchv1.Job) Status {
	for i := range j.Status.Conditions {
		c := &j.Status.Conditions[i]
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			return Status{Ready: true}
		case batchv1.JobFailed, batchv1.JobFailureTarget:
			return failed("%s", cmp.Or(why(c.Reason, c.Message), "it has failed, and doesn't say why"))
		case batchv1.JobSuspended:
			return inProgress("is suspended")
		}
	}
	return inProgress("is not complete: %d succeeded, %d active, %d failed", j.Status.Succeeded, j.Status.Active, j.Status.Failed)
}

// ofPod evaluates a Pod: ready when it runs and is ready, or has succeeded. It has failed in phase Failed, or when the kubelet
// restarts a crashing container repeatedly.
func ofPod(p *corev1.Pod) Status {
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		return Status{Ready: true}
	case corev1.PodFailed:
		return failed("pod failed: %s %s", p.Status.Reason, p.Status.Message)
	case corev1.PodPending, corev1.PodRunning, corev1.PodUnknown:
	}
	if s := ofContainers(p.Status.InitContainerStatuses); s.Failed {
		return s
	}
	waiting := ofContainers(p.Status.ContainerStatuses)
	if waiting.Failed {
		return waiting
	}
	for i := range p.Status.Conditions {
		switch c := &p.Status.Conditions[i]; {
		case c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && p.Status.Phase == corev1.PodRunning:
			return Status{Ready: true}
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse:
			return inProgress("not scheduled: %s %s", c.Reason, c.Message)
		}
	}
	if !waiting.Ready {
		return waiting
	}
	return inProgress("phase %s, not ready", p.Status.Phase)
}

func ofContainers(statuses []corev1.ContainerStatus) Status {
	worst := Status{Ready: true}
	for i := range statuses {
		w := statuses[i].State.Waiting
		if w == nil || w.Reason == "" {
			continue
		}
		if w.Reason == "CrashLoopBackOff" {
			return failed("container %s: %s %s", statuses[i].Name, w.Reason, w.Message)
		}
		if worst.Ready {
			worst = inProgress("container %s: %s %s", statuses[i].Name, w.Reason, w.Message)
		}
	}
	return worst
}

// ofClaim evaluates a claim: ready when bound or unused, failed if its volume is lost.
func ofClaim(c *corev1.PersistentVolumeClaim) Status {
	switch {
	case c.Status.Phase == corev1.ClaimBound:
		return Status{Ready: true}
	case c.Status.Phase == corev1.ClaimLost:
		return failed("its volume %s is lost", c.Spec.VolumeName)
	case isUnused(c):
		return Status{Ready: true, Message: "is not bound, since nothing uses it"}
	default:
		return inProgress("is not bound")
	}
}

// These annotations are set while a claim's volume is provisioned. The scheduler sets the node, after a pod that uses the claim has
// one. The claim's controller sets the provisioner; with a class that binds on first consumption it waits for the node.
const (
	annotationSelectedNode    = "volume.kubernetes.io/selected-node"
	annotationProvisioner     = "volume.kubernetes.io/storage-provisioner"
	annotationProvisionerBeta = "volume.beta.kubernetes.io/storage-provisioner"
)

// isUnused reports whether nothing provisions or looks for a volume. The class would show whether it binds at once, but reading it
// needs a permission that few operators have. A claim without a class waits for a volume that someone creates by hand.
func isUnused(c *corev1.PersistentVolumeClaim) bool {
	if c.Spec.StorageClassName == nil || *c.Spec.StorageClassName == "" || c.Spec.VolumeName != "" {
		return false
	}
	for _, name := range []string{annotationSelectedNode, annotationProvisioner, annotationProvisionerBeta} {
		if c.Annotations[name] != "" {
			return false
		}
	}
	return true
}

// ofService evaluates a Service: ready when it has its cluster IP, and as a LoadBalancer an address.
func ofService(s *corev1.Service) Status {
	switch {
	case s.Spec.Type == corev1.ServiceTypeExternalName:
		return Status{Ready: true}
	case s.Spec.ClusterIP == "":
		return inProgress("has no cluster IP")
	case s.Spec.Type == corev1.ServiceTypeLoadBalancer && len(s.Status.LoadBalancer.Ingress) == 0:
		return inProgress("its load balancer has no address")
	default:
		return Status{Ready: true}
	}
}

// ofBudget evaluates a PodDisruptionBudget: ready when observed. The workload reports the health of its pods.
func ofBudget(b *policyv1.PodDisruptionBudget) Status {
	s, _ := unobserved(b, b.Status.ObservedGeneration)
	return s
}
