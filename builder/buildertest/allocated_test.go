package buildertest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func service(name string, change func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}},
	}}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

// What a Service is given depends on what others were given before it.
func TestEndStateKnowsNoAllocatedAddresses(t *testing.T) {
	end := func(order ...*corev1.Service) string {
		s := newServer()
		for _, o := range order {
			require.NoError(t, s.Client("me").Create(t.Context(), o.DeepCopy()))
		}
		state, err := s.EndState()
		require.NoError(t, err)
		return strings.Join(state, "---\n")
	}
	a, b := service("a", nil), service("b", nil)
	assert.Equal(t, end(a, b), end(b, a))
	assert.Contains(t, end(a), "clusterIP: (allocated)")
	assert.Contains(t, end(a), "nodePort: (allocated)")

	fixed := service("f", func(s *corev1.ServiceSpec) { s.ClusterIP, s.Ports[0].NodePort = "10.96.9.9", 30999 })
	assert.Contains(t, end(fixed), "clusterIP: 10.96.9.9", "someone asked for it")
	assert.Contains(t, end(fixed), "nodePort: 30999")
	headless := service("h", func(s *corev1.ServiceSpec) { s.Type, s.ClusterIP = "", corev1.ClusterIPNone })
	assert.Contains(t, end(headless), "clusterIP: None")
}
