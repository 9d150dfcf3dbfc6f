package podtemplate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// TolerateLikeDaemonSet adds the tolerations that the DaemonSet controller gives its pods: they stay on a node that has
// lost its kubelet, and go to one that is cordoned or short of something. As there, such a toleration of the template's
// that holds for some seconds only then holds for ever.
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
