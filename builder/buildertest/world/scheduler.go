package world

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	helpers "k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// scheduler binds pods to nodes: by nodeSelector and required node affinity, taints, cordons, and the free part of a node's allocatable
// resources. A resource without an allocatable amount is unlimited. Of several nodes it takes the one with the fewest pods, then the
// first by name. It knows neither pod affinity, spread constraints, host ports nor preemption.
type scheduler struct{}

func (scheduler) Name() string { return "scheduler" }

func (scheduler) Changes(s *State) []Change {
	nodes, pods := All[*corev1.Node](s), All[*corev1.Pod](s)
	var changes []Change
	for _, pod := range pods {
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || isTerminal(pod) || len(pod.Spec.SchedulingGates) > 0 {
			continue
		}
		node, why := chooseNode(pod, nodes, pods)
		switch {
		case node != nil:
			return append(changes, Change{Verb: VerbBind, Object: pod, Node: node.Name}) // the next pod sees it
		case !isUnschedulable(pod, why):
			changes = append(changes, updateStatus(changed(pod, func(p *corev1.Pod) {
				setPodCondition(p, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, s.now())
				for i := range p.Status.Conditions {
					if p.Status.Conditions[i].Type == corev1.PodScheduled {
						p.Status.Conditions[i].Message = why
					}
				}
			})))
		}
	}
	return changes
}

func isUnschedulable(pod *corev1.Pod, why string) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message == why
	})
}

// chooseNode returns the node for a pod, or a message that says why there is none.
func chooseNode(pod *corev1.Pod, nodes []*corev1.Node, pods []*corev1.Pod) (*corev1.Node, string) {
	var best *corev1.Node
	fewest := 0
	reasons := map[string]int{}
	for _, node := range nodes {
		if why := rejects(node, pod, pods); why != "" {
			reasons[why]++
			continue
		}
		if n := len(podsOn(node, pods)); best == nil || n < fewest {
			best, fewest = node, n
		}
	}
	if best != nil {
		return best, ""
	}
	var counted []string
	for why, n := range reasons {
		counted = append(counted, fmt.Sprint(n, " ", why))
	}
	slices.Sort(counted)
	if len(counted) == 0 {
		return nil, "0/0 nodes are available."
	}
	return nil, fmt.Sprintf("0/%d nodes are available: %s.", len(nodes), strings.Join(counted, ", "))
}

// rejects returns why a pod can't run on a node; empty if it can.
func rejects(node *corev1.Node, pod *corev1.Pod, pods []*corev1.Pod) string {
	if matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !matches {
		return "node(s) didn't match Pod's node affinity/selector"
	}
	taints := node.Spec.Taints
	if node.Spec.Unschedulable {
		taints = append(slices.Clone(taints), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	if !isNodeReady(node) {
		taints = append(slices.Clone(taints), corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	}
	hard := func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
	if taint, found := scheduling.FindMatchingUntoleratedTaint(klog.Background(), taints, pod.Spec.Tolerations, hard, false); found {
		if taint.Key == corev1.TaintNodeUnschedulable {
			return "node(s) were unschedulable"
		}
		return fmt.Sprintf("node(s) had untolerated taint {%s: %s}", taint.Key, taint.Value)
	}
	return lacks(node, pod, podsOn(node, pods))
}

// podsOn returns the pods that take room on a node.
func podsOn(node *corev1.Node, pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p.Spec.NodeName != node.Name || isTerminal(p) })
}

// lacks returns which resource of a node is too small for a pod; empty for none.
func lacks(node *corev1.Node, pod *corev1.Pod, others []*corev1.Pod) string {
	var names []corev1.ResourceName
	for name := range node.Status.Allocatable {
		names = append(names, name)
	}
	slices.Sort(names)
	requests := requestsOf(pod)
	for _, name := range names {
		limit := node.Status.Allocatable[name]
		if name == corev1.ResourcePods {
			if int64(len(others)) >= limit.Value() {
				return "Too many pods"
			}
			continue
		}
		wants := requests[name].DeepCopy()
		if wants.IsZero() {
			continue
		}
		for _, p := range others {
			wants.Add(requestsOf(p)[name])
		}
		if wants.Cmp(limit) > 0 {
			return "Insufficient " + string(name)
		}
	}
	return ""
}

// requestsOf returns what a pod requests, with its init containers and its overhead.
func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	return helpers.PodRequests(pod, helpers.PodResourcesOptions{UseStatusResources: true})
}
