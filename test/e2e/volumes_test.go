//go:build e2e

package e2e

import (
	"context"
	"fmt"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// volumes makes volumes in turn on each node, in directories of the nodes' own, and returns their class. A claim is bound
// when its pod is scheduled, and from then on the pod stays on the volume's node.
func (s *space) volumes(n int) (class string) {
	s.Helper()
	objects := []client.Object{&storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: s.name},
		Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}}
	for i := range n {
		name := fmt.Sprintf("%s-%d", s.name, i)
		objects = append(objects, &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:         corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				StorageClassName: s.name,
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{
					Path: "/var/lib/e2e-volumes/" + name, Type: ptr.To(corev1.HostPathDirectoryOrCreate),
				}},
				NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{
						Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{nodes[i%len(nodes)]},
					}},
				}}}},
			},
		})
	}
	for _, obj := range objects {
		require.NoError(s, cluster.Create(s.Context(), obj))
		s.Cleanup(func() { _ = cluster.Delete(context.Background(), obj) })
	}
	return s.name
}
