package jobflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

// Many flows name one template of which the API server refuses every Job: it is asked once for each version of the template, and each
// flow has its answer.
func TestARefusedTemplateIsTriedOnceForAllFlows(t *testing.T) {
	const flows = 60
	p := newPlace(t)
	template := &v1alpha1.JobTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "shared"},
		Spec: v1alpha1.JobTemplateSpec{JobTemplate: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
				Name: "main", Image: "busybox:1.28", Command: []string{"true"},
				VolumeMounts: []corev1.VolumeMount{{Name: "missing-0", MountPath: "/data"}},
			}},
		}}}},
	}
	require.NoError(t, p.Client.Create(t.Context(), template))
	for i := range flows {
		require.NoError(t, p.Client.Create(t.Context(), &v1alpha1.JobFlow{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: fmt.Sprint("f", i)},
			Spec:       v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{{Name: "a", JobTemplateRef: "shared"}}},
		}))
	}
	var requests harness.Requests
	p.manage(requests.Record)
	for version := range 3 {
		missing := fmt.Sprint("missing-", version)
		if version > 0 {
			p.RetryOnConflict("another version of the template", func() error {
				require.NoError(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(template), template))
				template.Spec.JobTemplate.Template.Spec.Containers[0].VolumeMounts[0].Name = missing
				return p.Client.Update(t.Context(), template)
			})
		}
		p.Eventually("all flows say what is refused of version "+missing, func() bool {
			var list v1alpha1.JobFlowList
			require.NoError(t, p.Client.List(t.Context(), &list, client.InNamespace(p.Namespace)))
			for i := range list.Items {
				c := meta.FindStatusCondition(list.Items[i].Status.Conditions, events.ConditionReady)
				if c == nil || !strings.Contains(c.Message, missing) {
					return false
				}
			}
			return len(list.Items) == flows
		})
		creates := 0
		for _, request := range requests.Take() {
			if request == "POST /apis/batch/v1/namespaces/"+p.Namespace+"/jobs" {
				creates++
			}
		}
		assert.Equal(t, 1, creates, "creates of version %d", version)
	}
}
