package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// A namespace whose Pod Security refuses what the template asks for: the condition has the API server's words.
func TestAFlowSaysWhyItHasNoPods(t *testing.T) {
	p := newPlace(t)
	p.MustKubectl("label", "namespace", p.Namespace, "pod-security.kubernetes.io/enforce=restricted")
	p.manage()
	flow := &v1alpha1.JobFlow{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "f"},
		Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{{Name: "a", JobTemplate: &batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28", Command: []string{"true"}}},
		}}}}}},
	}
	require.NoError(t, p.Client.Create(t.Context(), flow))
	got := p.wait("f", "the reason is told", func(f *v1alpha1.JobFlow) bool {
		c := meta.FindStatusCondition(f.Status.Conditions, events.ConditionReady)
		return c != nil && c.Reason == v1alpha1.ReasonPodsRefused
	})
	assert.Contains(t, meta.FindStatusCondition(got.Status.Conditions, events.ConditionReady).Message,
		`flow "a" has no pods, since they are refused: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`)
	p.OneEvent("f", v1alpha1.ReasonPodsRefused)

	p.MustKubectl("label", "--overwrite", "namespace", p.Namespace, "pod-security.kubernetes.io/enforce=privileged")
	p.waitState("f", v1alpha1.StateSucceed)
}
