package minicluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// A namespace whose Pod Security refuses what the template asks for: the condition has the API server's words.
func TestAClusterSaysWhyItHasNoPods(t *testing.T) {
	p := newPlace(t)
	p.MustKubectl("label", "namespace", p.Namespace, "pod-security.kubernetes.io/enforce=restricted")
	p.manage()
	c := &v1alpha1.MiniCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "mc"},
		Spec: v1alpha1.MiniClusterSpec{Size: 1, Flux: v1alpha1.MiniClusterFlux{Disable: true},
			Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: "true"}}},
	}
	require.NoError(t, p.Client.Create(t.Context(), c))
	got := p.wait("mc", "the reason is told", func(c *v1alpha1.MiniCluster) bool {
		return condition(t, c, events.ConditionReady).Reason == v1alpha1.ReasonPodsRefused
	})
	assert.Contains(t, condition(t, got, events.ConditionReady).Message,
		`0 of 1 pod ready; pods are refused: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`)
	p.OneEvent("mc", v1alpha1.ReasonPodsRefused)
}
