package podtemplate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// OnNode restricts pods to the node of a name, and leaves it to the scheduler to place them: spec.nodeName would bypass
// it, and a full node would fail the pods instead of letting them wait. The restriction is added to what the template
// itself requires of nodes. A template that sets spec.nodeName has placed its pods already and stays as it is.
func OnNode(spec *corev1.PodSpec, name string) {
	if spec.NodeName != "" {
		return
	}
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	affinity := spec.Affinity.NodeAffinity
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
	}
	required := affinity.RequiredDuringSchedulingIgnoredDuringExecution
	if len(required.NodeSelectorTerms) == 0 {
		required.NodeSelectorTerms = []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{isNode(name)}}}
		return
	}
	for i := range required.NodeSelectorTerms { // one term must hold, so each gets it
		term := &required.NodeSelectorTerms[i]
		if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
			continue // an empty term matches no node, and must not begin to
		}
		term.MatchFields = append(term.MatchFields, isNode(name))
	}
}

// isNode holds on the node of a name. It is the field that DaemonSets use: the hostname label may differ from the name.
func isNode(name string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{
		Key:      "metadata.name",
		Operator: corev1.NodeSelectorOpIn,
		Values:   []string{name},
	}
}

// TolerateLikeDaemonSet adds the tolerations that the DaemonSet controller gives its pods: they stay on a node that has
// lost its kubelet, and go to one that is cordoned or short of something. As there, such a toleration of the template's
// that holds for some seconds only then holds forever.
func TolerateLikeDaemonSet(spec *corev1.PodSpec) {
	tolerateForever(spec, corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	tolerateForever(spec, corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	tolerateForever(spec, corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	tolerateForever(spec, corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	tolerateForever(spec, corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	tolerateForever(spec, corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if spec.HostNetwork {
		tolerateForever(spec, corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
}

func tolerateForever(spec *corev1.PodSpec, taint string, effect corev1.TaintEffect) {
	forever := corev1.Toleration{Key: taint, Operator: corev1.TolerationOpExists, Effect: effect}
	i := slices.IndexFunc(spec.Tolerations, func(t corev1.Toleration) bool { return t.MatchToleration(&forever) })
	if i >= 0 {
		spec.Tolerations[i] = forever
		return
	}
	spec.Tolerations = append(spec.Tolerations, forever)
}
