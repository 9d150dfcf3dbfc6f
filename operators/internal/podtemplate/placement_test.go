package podtemplate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestTolerateLikeDaemonSet(t *testing.T) {
	own := corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists}
	brief := corev1.Toleration{
		Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
		TolerationSeconds: ptr.To[int64](30),
	}
	spec := &corev1.PodSpec{Tolerations: []corev1.Toleration{own, brief}}
	TolerateLikeDaemonSet(spec)

	forever := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: "node.kubernetes.io/" + key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	want := []corev1.Toleration{
		own,
		forever("not-ready", "NoExecute"), forever("unreachable", "NoExecute"),
		forever("disk-pressure", "NoSchedule"), forever("memory-pressure", "NoSchedule"), forever("pid-pressure", "NoSchedule"),
		forever("unschedulable", "NoSchedule"),
	}
	assert.Equal(t, want, spec.Tolerations)
	TolerateLikeDaemonSet(spec)
	assert.Equal(t, want, spec.Tolerations, "once is enough")

	spec.HostNetwork = true
	TolerateLikeDaemonSet(spec)
	assert.Equal(t, append(want, forever("network-unavailable", "NoSchedule")), spec.Tolerations)
}
