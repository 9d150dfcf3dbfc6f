package immutable

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTrialNames(t *testing.T) {
	for _, name := range []string{"web", strings.Repeat("x", 63), strings.Repeat("x", 253), "a.b-" + strings.Repeat(".", 50)} {
		got := TrialName(name, "0123456789abcdef")
		assert.Empty(t, validation.IsDNS1123Subdomain(got), got)
		assert.LessOrEqual(t, len(got), 63)
		assert.True(t, strings.HasSuffix(got, "-probe-01234567"))
		assert.Equal(t, got, TrialName(name, "0123456789abcdef"))
	}
}

func TestTrialOfAServiceHasNothingThatIsHeld(t *testing.T) {
	held := &corev1.Service{Spec: corev1.ServiceSpec{
		ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, HealthCheckNodePort: 30009,
		Ports: []corev1.ServicePort{{Port: 80, NodePort: 30001, Protocol: corev1.ProtocolTCP}, {Port: 53, NodePort: 30002, Protocol: corev1.ProtocolUDP}},
	}}
	same, other := held.DeepCopy(), held.DeepCopy()
	same.Spec.Ports[0].Protocol = ""
	dropHeld(same, held)
	assert.Equal(t, corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}, {Port: 53, Protocol: corev1.ProtocolUDP}}}, same.Spec)

	other.Spec.ClusterIP, other.Spec.ClusterIPs, other.Spec.HealthCheckNodePort = "10.0.0.2", nil, 30008
	other.Spec.Ports[0].NodePort, other.Spec.Ports[1].Protocol = 30003, corev1.ProtocolTCP
	want := other.DeepCopy()
	dropHeld(other, held)
	assert.Equal(t, want, other, "what others may hold is tried")

	headless := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}
	dropHeld(headless, headless.DeepCopy())
	assert.Equal(t, corev1.ClusterIPNone, headless.Spec.ClusterIP)

	found := untyped(t, held, "v1", "Service")
	loose, err := WithoutHeld(found.DeepCopy(), found)
	require.NoError(t, err)
	assert.NotContains(t, untyped(t, loose, "v1", "Service").Object["spec"], "clusterIP")
	unrelated := untyped(t, &corev1.ConfigMap{}, "v1", "ConfigMap")
	got, err := WithoutHeld(unrelated, unrelated)
	require.NoError(t, err)
	assert.Same(t, unrelated, got)
}

func untyped(t *testing.T, obj client.Object, apiVersion, kind string) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return u
}
