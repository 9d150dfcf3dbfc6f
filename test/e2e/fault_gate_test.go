//go:build e2e

package e2e

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// gated is a pod that runs until the test opens its gate, however slow the machine is. The gate is a file on each node: the
// test sees the nodes' /var.
func (s *space) gated() corev1.PodTemplateSpec {
	template := shell("until [ -e /gate/open ]; do sleep 0.2; done")
	template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
	template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "gate", MountPath: "/gate"}}
	template.Spec.Volumes = []corev1.Volume{{Name: "gate", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{
		Path: filepath.Join("/var/lib/gates", s.name), Type: ptr.To(corev1.HostPathDirectoryOrCreate),
	}}}}
	return template
}

// open lets all gated pods of the space end, those to come as well.
func (s *space) open() {
	s.Helper()
	for _, node := range nodes {
		gate := filepath.Join(os.Getenv("E2E_CLUSTER"), "nodes", node, "var", "lib", "gates", s.name)
		require.NoError(s, os.MkdirAll(gate, 0o700))
		require.NoError(s, os.WriteFile(filepath.Join(gate, "open"), nil, 0o600))
	}
}
