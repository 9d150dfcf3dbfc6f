package world

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// podCollector imitates the pod garbage collector and the taint eviction: the pods of a deleted node fail and are deleted, those that were
// deleted before they had a node fail, and those of a node with an untolerated NoExecute taint get the condition DisruptionTarget and are
// deleted.
type podCollector struct{}

func (podCollector) Name() string { return "pod-garbage-collector" }

func (podCollector) Changes(s *State) []Change {
	nodes := map[string]*corev1.Node{}
	for _, n := range All[*corev1.Node](s) {
		nodes[n.Name] = n
	}
	var changes []Change
	for _, pod := range All[*corev1.Pod](s) {
		node := nodes[pod.Spec.NodeName]
		switch {
		case pod.Spec.NodeName == "":
			if pod.DeletionTimestamp != nil && !isTerminal(pod) { // a finalizer keeps it, and no kubelet will end it
				changes = append(changes, updateStatus(changed(pod, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })))
			}
		case node != nil:
			if pod.DeletionTimestamp == nil && evicts(s, node, pod) {
				changes = append(changes, evict(s, pod))
			}
		case !isTerminal(pod):
			changes = append(changes, updateStatus(changed(pod, func(p *corev1.Pod) {
				setPodCondition(p, corev1.DisruptionTarget, corev1.ConditionTrue, "DeletionByPodGC", s.now())
				p.Status.Phase = corev1.PodFailed
			})))
		case pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds > 0:
			changes = append(changes, remove(pod, client.GracePeriodSeconds(0)))
		}
	}
	return changes
}

// evict returns the next change of an eviction: the condition DisruptionTarget, which a podFailurePolicy may match, and then the deletion.
func evict(s *State, pod *corev1.Pod) Change {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return remove(pod)
		}
	}
	return updateStatus(changed(pod, func(p *corev1.Pod) {
		setPodCondition(p, corev1.DisruptionTarget, corev1.ConditionTrue, "DeletionByTaintManager", s.now())
	}))
}

// evicts reports whether a taint of a node ends a pod now.
func evicts(s *State, node *corev1.Node, pod *corev1.Pod) bool {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		tolerated := false
		for _, t := range pod.Spec.Tolerations {
			if !t.ToleratesTaint(klog.Background(), taint, false) {
				continue
			}
			if t.TolerationSeconds == nil || taint.TimeAdded == nil || !s.Due(taint.TimeAdded.Add(seconds(*t.TolerationSeconds))) {
				tolerated = true
			}
		}
		if !tolerated {
			return true
		}
	}
	return false
}
