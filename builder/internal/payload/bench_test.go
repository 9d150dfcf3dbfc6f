package payload

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

func benchDeployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
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
}

// BenchmarkPayload compares Of with the library's conversion, which still needs a pass that removes what wasn't set.
func BenchmarkPayload(b *testing.B) {
	d, gvk := benchDeployment(), appsv1.SchemeGroupVersion.WithKind("Deployment")
	b.Run("Of", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := Of(d, gvk)
			require.NoError(b, err)
		}
	})
	b.Run("DefaultUnstructuredConverter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
			require.NoError(b, err)
		}
	})
	fields, err := Of(d, gvk)
	require.NoError(b, err)
	b.Run("Digest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := Digest(fields)
			require.NoError(b, err)
		}
	})
	b.Run("json.Marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := json.Marshal(fields)
			require.NoError(b, err)
		}
	})
}

// What the library's conversion can't tell: a pointer to an empty struct, which the author has set (emptyDir: {}), from a struct that was
// left empty (status: {}, strategy: {}, resources: {}).
func TestWhatTheConverterCannotTell(t *testing.T) {
	d := &appsv1.Deployment{}
	d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c"}}
	podOf := func(fields map[string]any) map[string]any {
		return fields["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	}
	converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
	require.NoError(t, err)
	set := podOf(converted)["volumes"].([]any)[0].(map[string]any)["emptyDir"]
	unset := podOf(converted)["containers"].([]any)[0].(map[string]any)["resources"]
	require.Equal(t, set, unset, "the author set one of them")

	ours, err := Of(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))
	require.NoError(t, err)
	require.Equal(t, map[string]any{}, podOf(ours)["volumes"].([]any)[0].(map[string]any)["emptyDir"])
	require.NotContains(t, podOf(ours)["containers"].([]any)[0], "resources")
}
