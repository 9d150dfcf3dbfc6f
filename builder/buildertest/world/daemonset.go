package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// daemonSetController imitates the DaemonSet controller: a pod on each node that the template selects and whose taints it tolerates,
// cordoned nodes included, and rolling updates.
type daemonSetController struct{}

func (daemonSetController) Name() string { return "daemonset-controller" }

var daemonSetKind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

func (daemonSetController) Changes(s *State) []Change {
	var changes []Change
	for _, set := range All[*appsv1.DaemonSet](s) {
		if set.DeletionTimestamp != nil {
			continue
		}
		if claims := claim[*corev1.Pod](s, set, daemonSetKind, set.Spec.Selector, nil); len(claims) > 0 {
			changes = append(changes, claims...)
		} else {
			changes = append(changes, syncDaemonSet(s, set)...)
		}
	}
	return changes
}

func syncDaemonSet(s *State, set *appsv1.DaemonSet) []Change {
	revision := hashOf(&set.Spec.Template)
	byNode := daemonsByNode(s, set)
	st := &appsv1.DaemonSetStatus{ObservedGeneration: set.Generation, CollisionCount: set.Status.CollisionCount}
	var changes []Change
	var outdated []*corev1.Pod
	terminating := int32(0) // that count as available in the status, and not for a rolling update
	number := s.lastNumber(set.Namespace, set.Name+"-", 0) + 1
	for _, node := range All[*corev1.Node](s) {
		pod := daemonPod(set, revision, node, number)
		runs, continues := belongs(node, pod)
		present := byNode[node.Name]
		delete(byNode, node.Name)
		switch {
		case runs:
			st.DesiredNumberScheduled++
		case len(present) > 0:
			st.NumberMisscheduled++
		}
		slices.SortStableFunc(present, oldestFirst)
		keeps := false
		for _, p := range present {
			switch {
			case p.DeletionTimestamp != nil:
			case isTerminal(p) || keeps || !runs && !continues:
				changes = append(changes, remove(p))
			default:
				keeps = true
			}
		}
		if !runs {
			continue
		}
		if len(present) == 0 {
			number++
			changes = append(changes, create(pod))
			continue
		}
		before := st.NumberAvailable
		if p := countDaemon(s, st, set, revision, present[0]); p != nil {
			outdated = append(outdated, p)
		}
		if present[0].DeletionTimestamp != nil {
			terminating += st.NumberAvailable - before
		}
	}
	for _, node := range slices.Sorted(maps.Keys(byNode)) { // the nodes that don't exist
		for _, p := range byNode[node] {
			if p.Spec.NodeName == "" && p.DeletionTimestamp == nil { // the pod collector doesn't delete it
				changes = append(changes, remove(p))
			}
		}
	}
	if len(changes) == 0 {
		changes = replaceDaemons(s, set, st, terminating, outdated)
	}
	if changes, _ = withinQuota(s, changes); len(changes) > 0 {
		return changes
	}
	st.NumberUnavailable = st.DesiredNumberScheduled - st.NumberAvailable
	return statusChange(set, &set.Status, st, func(o *appsv1.DaemonSet) { o.Status = *st })
}

// daemonsByNode returns the pods of a DaemonSet by the names of their nodes. It leaves out an adopted pod without a node, until the
// scheduler has bound it, and an ended pod that only finalizers keep.
func daemonsByNode(s *State, set *appsv1.DaemonSet) map[string][]*corev1.Pod {
	byNode := map[string][]*corev1.Pod{}
	for _, pod := range ownedBy[*corev1.Pod](s, set) {
		if node := nodeOf(pod); node != "" && (!isTerminal(pod) || pod.DeletionTimestamp == nil) {
			byNode[node] = append(byNode[node], pod)
		}
	}
	return byNode
}

// oldestFirst orders the pods of a node. A DaemonSet keeps the first one, and prefers those with a node.
func oldestFirst(a, b *corev1.Pod) int {
	isPending := func(pod *corev1.Pod) int {
		if pod.Spec.NodeName == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(isPending(a), isPending(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// countDaemon adds a pod to the status. It returns the pod if it has a former revision.
func countDaemon(s *State, st *appsv1.DaemonSetStatus, set *appsv1.DaemonSet, revision string, pod *corev1.Pod) *corev1.Pod {
	st.CurrentNumberScheduled++
	if isReady(pod) {
		st.NumberReady++
		if isAvailable(s, pod, set.Spec.MinReadySeconds) {
			st.NumberAvailable++
		}
	}
	if pod.Labels[appsv1.ControllerRevisionHashLabelKey] == revision {
		st.UpdatedNumberScheduled++
		return nil
	}
	return pod
}

// replaceDaemons deletes pods of a former revision, as many as maxUnavailable allows beside the available ones that already terminate.
func replaceDaemons(
	s *State, set *appsv1.DaemonSet, st *appsv1.DaemonSetStatus, terminating int32, outdated []*corev1.Pod,
) []Change {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if set.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType || rolling == nil {
		return nil
	}
	limit, err := intstr.GetScaledValueFromIntOrPercent(new(ptr.Deref(rolling.MaxUnavailable, intstr.FromInt32(1))),
		int(st.DesiredNumberScheduled), true)
	if err != nil {
		s.fail("DaemonSet %s/%s: spec.updateStrategy.rollingUpdate.maxUnavailable: %w", set.Namespace, set.Name, err)
		return nil
	}
	room := max(limit, 1) - int(st.DesiredNumberScheduled-st.NumberAvailable+terminating)
	var changes []Change
	for _, pod := range outdated {
		ready := isReady(pod)
		if pod.DeletionTimestamp != nil || ready && room <= 0 {
			continue
		}
		if ready {
			room--
		}
		changes = append(changes, remove(pod))
	}
	return changes
}

// daemonPod returns the pod for a node.
func daemonPod(set *appsv1.DaemonSet, revision string, node *corev1.Node, number int) *corev1.Pod {
	pod := podOf(&set.Spec.Template, set.Namespace, fmt.Sprintf("%s-%d", set.Name, number))
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, daemonSetKind)}
	setMap(&pod.Labels, appsv1.ControllerRevisionHashLabelKey, revision)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
		})
	}
	for _, key := range []string{
		corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable,
	} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
		})
	}
	pinTo(pod, node.Name)
	return pod
}

// pinTo gives a pod the required node affinity of one node, by its name.
func pinTo(pod *corev1.Pod, node string) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	name := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) == 0 {
		required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	for i := range required.NodeSelectorTerms {
		required.NodeSelectorTerms[i].MatchFields = []corev1.NodeSelectorRequirement{name}
	}
	pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
}

// nodeOf returns the node of a daemon's pod, also before it is scheduled; empty for an adopted pod that isn't for one node.
func nodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" || pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return pod.Spec.NodeName
	}
	required := ptr.Deref(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, corev1.NodeSelector{})
	for _, term := range required.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// belongs reports whether a daemon's pod should run on a node, and whether one that runs there may continue.
func belongs(node *corev1.Node, pod *corev1.Pod) (runs, continues bool) {
	if matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !matches {
		return false, false
	}
	tolerates := func(effects ...corev1.TaintEffect) bool {
		_, found := scheduling.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations,
			func(t *corev1.Taint) bool { return slices.Contains(effects, t.Effect) }, false)
		return !found
	}
	return tolerates(corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute), tolerates(corev1.TaintEffectNoExecute)
}
