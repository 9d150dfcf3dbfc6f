package jobflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// TestAdmission is what the API server itself refuses, by the CRD, before any operator sees it.
func TestAdmission(t *testing.T) {
	p := newPlace(t)
	both := node("a", "true")
	both.JobTemplateRef = "t"
	eachOf := func(each v1alpha1.ForEach) v1alpha1.JobFlowSpec {
		n := node("a", "true")
		n.ForEach = &each
		return v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{n}}
	}
	one := []v1alpha1.Flow{node("a", "true")}
	for name, tt := range map[string]struct {
		spec v1alpha1.JobFlowSpec
		want string
	}{
		"no flows":             {v1alpha1.JobFlowSpec{}, "spec.flows: Required value"},
		"a bad name":           {v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("Bad_Name", "true")}}, `spec.flows[0].name: Invalid value: "Bad_Name"`},
		"a long name":          {v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node(strings.Repeat("a", 64), "true")}}, "spec.flows[0].name: Too long"},
		"a bad last name":      {v1alpha1.JobFlowSpec{Flows: one, Finally: []v1alpha1.Flow{node("-", "true")}}, `spec.finally[0].name: Invalid value: "-"`},
		"neither template":     {v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{{Name: "a"}}}, "spec.flows[0]: Invalid value: exactly one of jobTemplate and jobTemplateRef must be set"},
		"both templates":       {v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{both}}, "spec.flows[0]: Invalid value: exactly one of jobTemplate and jobTemplateRef must be set"},
		"no items":             {eachOf(v1alpha1.ForEach{}), "spec.flows[0].forEach: Invalid value: exactly one of items and fromOutput must be set"},
		"items twice":          {eachOf(v1alpha1.ForEach{Items: []string{"a"}, FromOutput: "b"}), "exactly one of items and fromOutput must be set"},
		"no items at a time":   {eachOf(v1alpha1.ForEach{Items: []string{"a"}, MaxParallel: ptr.To[int32](0)}), "spec.flows[0].forEach.maxParallel: Invalid value: 0"},
		"too many items":       {eachOf(v1alpha1.ForEach{Items: make([]string, 1001)}), "spec.flows[0].forEach.items: Too many: 1001: must have at most 1000 items"},
		"finally waits":        {v1alpha1.JobFlowSpec{Flows: one, Finally: []v1alpha1.Flow{node("b", "true", "a")}}, "spec.finally: Invalid value: flows in finally start when all others have ended and can't have dependencies"},
		"no Job at a time":     {v1alpha1.JobFlowSpec{Flows: one, Parallelism: ptr.To[int32](0)}, "spec.parallelism: Invalid value: 0"},
		"no time":              {v1alpha1.JobFlowSpec{Flows: one, ActiveDeadlineSeconds: ptr.To[int64](0)}, "spec.activeDeadlineSeconds: Invalid value: 0"},
		"a negative TTL":       {v1alpha1.JobFlowSpec{Flows: one, TTLSecondsAfterFinished: ptr.To[int32](-1)}, "spec.ttlSecondsAfterFinished: Invalid value: -1"},
		"an unknown end":       {v1alpha1.JobFlowSpec{Flows: one, EndOfJob: "Soon"}, `spec.endOfJob: Unsupported value: "Soon": supported values: "Pods", "Condition"`},
		"an unknown retention": {v1alpha1.JobFlowSpec{Flows: one, JobRetention: "Some"}, `spec.jobRetention: Unsupported value: "Some"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := p.Client.Create(t.Context(), &v1alpha1.JobFlow{
				ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, GenerateName: "refused-"}, Spec: tt.spec,
			})
			assert.ErrorContains(t, err, tt.want)
		})
	}

	t.Run("what can't be changed", func(t *testing.T) {
		p.create("stored", one...)
		flow := p.flow("stored")
		flow.Spec.Retry = 2
		require.NoError(t, p.Client.Update(t.Context(), flow))
		flow.Spec.Retry = 1
		assert.ErrorContains(t, p.Client.Update(t.Context(), flow), "spec.retry: Invalid value: can only be increased")
		flow.Spec.Retry = 2
		flow.Spec.ManagedBy = new("example.com/other")
		assert.ErrorContains(t, p.Client.Update(t.Context(), flow), "spec.managedBy: Invalid value: can't be changed once the JobFlow exists")
	})
}

// TestALargeFlowIsAdmitted: the costs of the CRD's rules leave room for 10,000 flows.
func TestALargeFlowIsAdmitted(t *testing.T) {
	p := newPlace(t)
	large := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "large"}}
	for i := range 10_000 {
		large.Spec.Flows = append(large.Spec.Flows, v1alpha1.Flow{Name: fmt.Sprint("n", i), JobTemplateRef: "t"})
	}
	require.NoError(t, p.Client.Create(t.Context(), large))
	large.Spec.Flows = append(large.Spec.Flows, v1alpha1.Flow{Name: "more", JobTemplateRef: "t"})
	assert.ErrorContains(t, p.Client.Update(t.Context(), large), "spec.flows: Too many: 10001: must have at most 10000 items")
}
