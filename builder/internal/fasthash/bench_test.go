package fasthash

import (
	"crypto/sha256"
	"encoding/json"
	"testing"

	"github.com/mitchellh/hashstructure/v2"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// BenchmarkHash compares Of with what libraries offer, for a Deployment of one container.
func BenchmarkHash(b *testing.B) {
	labels := map[string]string{"app": "web"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "web", Image: "nginx:1.29", Ports: []corev1.ContainerPort{{ContainerPort: 80}},
				Env: []corev1.EnvVar{{Name: "A", Value: "1"}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("1Gi")},
				},
			}}}},
		},
	}
	b.Run("Of", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, ok := Of(d)
			require.True(b, ok)
		}
	})
	b.Run("hashstructure", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := hashstructure.Hash(d, hashstructure.FormatV2, nil)
			require.NoError(b, err)
		}
	})
	b.Run("JSON and SHA-256", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			text, err := json.Marshal(d)
			require.NoError(b, err)
			_ = sha256.Sum256(text)
		}
	})
	b.Run("protobuf and SHA-256", func(b *testing.B) { // for built-in kinds only; the order of maps is fixed
		b.ReportAllocs()
		for b.Loop() {
			text, err := d.Marshal()
			require.NoError(b, err)
			_ = sha256.Sum256(text)
		}
	})
}
