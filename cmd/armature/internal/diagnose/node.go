package diagnose

import (
	corev1 "k8s.io/api/core/v1"
)

// nodeLost: the pod's node doesn't exist or isn't ready.
func nodeLost(s subject) *Finding {
	if s.pod == nil || s.pod.Spec.NodeName == "" || s.Nodes == nil || s.pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	name := s.pod.Spec.NodeName
	n := s.node(name)
	switch {
	case n == nil && s.pod.Status.Phase == corev1.PodPending && s.pod.Status.StartTime == nil:
		return noSuchNode(name, ", which its spec.nodeName names")
	case n == nil:
		return blocked("NodeLost", "its node %s doesn't exist", name).
			do("if no controller replaces the pod, delete it: kubectl delete pod %s -n %s", s.GetName(), s.GetNamespace())
	case !isNodeReady(n):
		return blocked("NodeNotReady", "its node %s isn't ready: %s", name, nodeTrouble(n)).do("kubectl describe node %s", name)
	default:
		return nil
	}
}

func isNodeReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func nodeTrouble(n *corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Message != "" {
			return c.Message
		}
	}
	return "the node reports no reason"
}

// evicted: the pod was evicted from its node.
func evicted(s subject) *Finding {
	if s.pod == nil || s.pod.Status.Phase != corev1.PodFailed {
		return nil
	}
	if c := s.isTrue(string(corev1.DisruptionTarget)); c != nil {
		return failed("Evicted", "it was evicted from its node: "+c.Reason+": "+c.Message).
			do("if no controller replaces it, run it again; an evicted pod used more than it requested, or was preempted")
	}
	if s.pod.Status.Reason == "Evicted" || s.pod.Status.Reason == "Preempting" || s.pod.Status.Reason == "NodeLost" ||
		s.pod.Status.Reason == "Shutdown" || s.pod.Status.Reason == "UnexpectedAdmissionError" {
		return failed("Evicted", "it was evicted from its node: "+s.pod.Status.Reason+": "+s.pod.Status.Message).
			do("raise its requests of memory and ephemeral-storage to its usage, so that it gets a node with enough of both")
	}
	return nil
}
