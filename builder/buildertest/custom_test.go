package buildertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

func customScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(s))
	return s
}

func jobFlow(namespace string) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "f"},
		Spec:       v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{{Name: "a", JobTemplateRef: "t"}}},
		Status:     v1alpha1.JobFlowStatus{State: v1alpha1.StateRunning},
	}
}

func TestKindsWithoutACRD(t *testing.T) {
	c := buildertest.NewServer(customScheme(t)).Client()
	flow := jobFlow("default")
	require.NoError(t, c.Create(t.Context(), flow))
	assert.Equal(t, v1alpha1.StateRunning, flow.Status.State, "no one has said that the status is apart")
	require.Error(t, c.Status().Update(t.Context(), flow))

	c = buildertest.NewServer(customScheme(t), buildertest.WithStatusSubresource(&v1alpha1.JobFlow{})).Client()
	flow = jobFlow("default")
	require.NoError(t, c.Create(t.Context(), flow))
	assert.Empty(t, flow.Status.State)
	flow.Status.State = v1alpha1.StateRunning
	require.NoError(t, c.Status().Update(t.Context(), flow))
	assert.Equal(t, v1alpha1.StateRunning, flow.Status.State)
	assert.Equal(t, int64(1), flow.Generation)
	got := &v1alpha1.JobFlow{}
	require.NoError(t, c.SubResource("status").Get(t.Context(), flow, got))
	assert.Equal(t, flow, got)
}

func TestClusterScopedKinds(t *testing.T) {
	c := buildertest.NewServer(customScheme(t), buildertest.WithClusterScoped(&v1alpha1.JobFlow{})).Client()
	require.NoError(t, c.Create(t.Context(), jobFlow("")))
	require.Error(t, c.Create(t.Context(), jobFlow("default")))
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "f"}, &v1alpha1.JobFlow{}))
}

func TestSeedsAreMadeAfterAllOptions(t *testing.T) {
	s := buildertest.NewServer(customScheme(t), buildertest.WithObjects(jobFlow("default")), buildertest.WithCRDs("../../config/crd"))
	c := s.Client()
	require.NoError(t, c.IndexField(t.Context(), &v1alpha1.JobFlow{}, "template", func(o client.Object) []string {
		return []string{o.(*v1alpha1.JobFlow).Spec.Flows[0].JobTemplateRef}
	}))
	var flows v1alpha1.JobFlowList
	require.NoError(t, c.List(t.Context(), &flows, client.MatchingFields{"template": "t"}))
	require.Len(t, flows.Items, 1)
	assert.Equal(t, v1alpha1.StateRunning, flows.Items[0].Status.State, "a seed keeps its status")
	gvk, err := c.GroupVersionKindFor(&flows.Items[0])
	require.NoError(t, err)
	assert.Equal(t, "JobFlow", gvk.Kind)

	state, err := s.EndState()
	require.NoError(t, err)
	require.Len(t, state, 1)
	assert.NotContains(t, state[0], "resourceVersion")
}
