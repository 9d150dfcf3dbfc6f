package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// nodeLifecycle imitates the node lifecycle controller: a node whose condition Ready isn't True gets the taints unreachable (Unknown) or
// not-ready (False), and its pods aren't ready. The pod collector then evicts those that don't tolerate the taint, or no longer. They
// terminate until the kubelet is back. The controller doesn't watch leases: someone sets the condition. A kubelet that reports False is
// alive and ends evicted pods, and the real controller makes existing pods unready only when it sets Unknown itself; here both are alike.
type nodeLifecycle struct{}

func (nodeLifecycle) Name() string { return "node-lifecycle-controller" }

func (nodeLifecycle) Changes(s *State) []Change {
	var changes []Change
	lost := map[string]bool{}
	for _, n := range All[*corev1.Node](s) {
		lost[n.Name] = !isNodeReady(n)
		if taints := lifecycleTaints(s, n); !slices.EqualFunc(taints, n.Spec.Taints, func(a, b corev1.Taint) bool { return a.MatchTaint(&b) }) {
			changes = append(changes, update(changed(n, func(n *corev1.Node) { n.Spec.Taints = taints })))
		}
	}
	for _, pod := range All[*corev1.Pod](s) {
		if lost[pod.Spec.NodeName] && isReady(pod) {
			changes = append(changes, updateStatus(changed(pod, func(p *corev1.Pod) {
				setPodCondition(p, corev1.PodReady, corev1.ConditionFalse, "", s.now())
			})))
		}
	}
	return changes
}

// lifecycleTaints returns the taints that a node should have: those that others gave it, and those of its condition Ready. A node without
// the condition keeps its taints.
func lifecycleTaints(s *State, node *corev1.Node) []corev1.Taint {
	at := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if at < 0 {
		return node.Spec.Taints
	}
	key := map[corev1.ConditionStatus]string{
		corev1.ConditionUnknown: corev1.TaintNodeUnreachable, corev1.ConditionFalse: corev1.TaintNodeNotReady,
	}[node.Status.Conditions[at].Status]
	taints := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool {
		isOurs := t.Key == corev1.TaintNodeUnreachable || t.Key == corev1.TaintNodeNotReady
		return isOurs && t.Key != key && t.Effect != corev1.TaintEffectPreferNoSchedule
	})
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		taint := corev1.Taint{Key: key, Effect: effect, TimeAdded: new(s.now())}
		if key != "" && !slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
			taints = append(taints, taint)
		}
	}
	return taints
}
