package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// noNodeFits returns the reason why no node can run a pod, even without other pods on it; nil if a node can.
func (s subject) noNodeFits(pod *corev1.Pod) *Finding {
	if len(s.Nodes) == 0 {
		return blocked("NoNodes", "the cluster has no nodes").do("add nodes, or check that they register: kubectl get nodes")
	}
	matching := s.matching(pod)
	if len(matching) == 0 {
		if gone := s.missing(namedNodes(pod)); len(gone) > 0 {
			return noSuchNode(listed(gone), ", which the pod requires")
		}
		return blocked("NoNodeMatches", "its %s matches none of the cluster's %s", demands(pod), count(len(s.Nodes), "node")).
			do("%s: kubectl get nodes --show-labels", labelAdvice(pod))
	}
	var cordoned, unready, tainted, left []string
	taint := ""
	var open []*corev1.Node
	for _, n := range matching {
		bad, isTainted := scheduling.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, pod.Spec.Tolerations, keepsOut, false)
		switch {
		case isTainted && bad.Key == corev1.TaintNodeUnschedulable, n.Spec.Unschedulable && !isTainted && !toleratesCordon(pod):
			cordoned = append(cordoned, n.Name)
		case isTainted && (bad.Key == corev1.TaintNodeNotReady || bad.Key == corev1.TaintNodeUnreachable):
			unready = append(unready, n.Name)
		case isTainted:
			tainted, taint = append(tainted, n.Name), bad.ToString()
		default:
			open = append(open, n)
			left = append(left, n.Name)
		}
	}
	if len(left) > 0 {
		return tooBig(pod, open)
	}
	var why []string
	reason := "NodesUnavailable"
	if len(cordoned) > 0 {
		reason, why = "NodeCordoned", append(why, isAre(cordoned, "cordoned"))
	}
	if len(tainted) > 0 {
		reason, why = "TaintNotTolerated", append(why, fmt.Sprintf("%s the taint %s, which it doesn't tolerate", hasHave(tainted), taint))
	}
	if len(unready) > 0 {
		reason, why = "NodeNotReady", append(why, isAre(unready, "not ready"))
	}
	return blocked(reason, "no node is available: of the %s, %s", count(len(matching), "matching node"), strings.Join(why, "; ")).
		do("%s", map[string]string{
			"NodeCordoned":      "kubectl uncordon " + strings.Join(cordoned[:min(1, len(cordoned))], "") + ", when its maintenance is over",
			"TaintNotTolerated": "add a toleration for the taint to the pod template, or remove the taint: kubectl taint nodes ... " + taint + "-",
			"NodeNotReady":      "check the nodes: kubectl describe nodes",
		}[reason])
}

// matching returns the nodes that a pod's node selector and required affinity match.
func (f *Facts) matching(pod *corev1.Pod) []*corev1.Node {
	wanted := nodeaffinity.GetRequiredNodeAffinity(pod)
	var all []*corev1.Node
	for i := range f.Nodes {
		if ok, err := wanted.Match(&f.Nodes[i]); err == nil && ok {
			all = append(all, &f.Nodes[i])
		}
	}
	return all
}

// namedNodes returns the nodes that a pod requires by name.
func namedNodes(pod *corev1.Pod) []string {
	var names []string
	if name := pod.Spec.NodeSelector[corev1.LabelHostname]; name != "" {
		names = append(names, name)
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return names
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, e := range append(slices.Clone(term.MatchExpressions), term.MatchFields...) {
			if e.Operator == corev1.NodeSelectorOpIn && (e.Key == metav1.ObjectNameField || e.Key == corev1.LabelHostname) {
				names = append(names, e.Values...)
			}
		}
	}
	return names
}

// labelAdvice is the next step for a pod whose node selector or node affinity matches no node.
func labelAdvice(pod *corev1.Pod) string {
	if labels := nodeSelector(pod); labels != "" {
		return "label a node with " + labels + ", or change the nodeSelector"
	}
	return "label a node as the pod's node affinity requires, or change the affinity"
}

// nodeSelector writes the node selector of a pod as KEY=VALUE,KEY=VALUE.
func nodeSelector(pod *corev1.Pod) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		parts = append(parts, key+"="+pod.Spec.NodeSelector[key])
	}
	return strings.Join(parts, ",")
}

// demands describes the node selector and the node affinity of a pod.
func demands(pod *corev1.Pod) string {
	text := ""
	if labels := nodeSelector(pod); labels != "" {
		text = "nodeSelector " + labels
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		if text != "" {
			text += " with its "
		}
		text += "node affinity"
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range append(slices.Clone(term.MatchExpressions), term.MatchFields...) {
				text += fmt.Sprintf(" %s %s %s", e.Key, e.Operator, strings.Join(e.Values, ","))
			}
		}
	}
	return text
}

// tooBig says that a pod requests more than any of these nodes has, even if it were empty.
func tooBig(pod *corev1.Pod, nodes []*corev1.Node) *Finding {
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		wants := requests[name]
		largest, node := corev1.ResourceList{}, ""
		for _, n := range nodes {
			has := n.Status.Allocatable[name]
			if best := largest[name]; node == "" || has.Cmp(best) > 0 {
				largest[name], node = has, n.Name
			}
		}
		if most := largest[name]; wants.Cmp(most) > 0 {
			return blocked("RequestTooLarge", "no node is large enough: it requests %s %s, and the largest of the %s, %s, has %s",
				wants.String(), name, count(len(nodes), "matching node"), node, most.String()).
				do("request less in the pod template, or add a larger node")
		}
	}
	return nil
}

func keepsOut(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

func toleratesCordon(pod *corev1.Pod) bool {
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	return scheduling.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations, &cordon, false)
}

func isAre(names []string, what string) string {
	if len(names) == 1 {
		return names[0] + " is " + what
	}
	return listed(names) + " are " + what
}

func hasHave(names []string) string {
	if len(names) == 1 {
		return names[0] + " has"
	}
	return listed(names) + " have"
}
