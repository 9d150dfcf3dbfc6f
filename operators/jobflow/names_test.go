package jobflow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/operators/internal/names"
)

func TestJobName(t *testing.T) {
	assert.Equal(t, "jobflow-example-error-job2-error-container", JobName("jobflow-example-error", "job2-error-container"))
	fits := strings.Repeat("f", 31) + "-" + strings.Repeat("n", 31)
	assert.Equal(t, fits, JobName(fits[:31], fits[32:]))

	// Fixed: a release that named Jobs otherwise would run them twice.
	assert.Equal(t, "ffffffffffffffffffffffffffffffff-nnnnnnnn-a1e9f873fa", JobName(strings.Repeat("f", 32), strings.Repeat("n", 31)))
}

func TestNamesAreValidStableAndApart(t *testing.T) {
	label := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		flow := strings.Join(rapid.SliceOfN(label, 1, 3).Draw(t, "flow"), ".")
		a, b := label.Draw(t, "a"), label.Draw(t, "b")
		name := JobName(flow, a)
		assert.Empty(t, validation.IsDNS1123Subdomain(name), name)
		assert.Empty(t, validation.IsValidLabelValue(name), name)
		assert.Empty(t, validation.IsValidLabelValue(names.LabelValue(flow)), flow)
		assert.Equal(t, name, JobName(flow, a))
		if a != b {
			assert.NotEqual(t, name, JobName(flow, b))
		}
	})
}

func TestTemplateNames(t *testing.T) {
	assert.Equal(t, []string{"y", "x"}, TemplateNames(makeFlow(nodeRef("a", "y"), node("b"), nodeRef("c", "x"), nodeRef("d", "y"))))
	assert.Empty(t, TemplateNames(makeFlow(node("a"))))
}

func TestPodLabelsAreThoseOfTheJobsPods(t *testing.T) {
	flow := makeFlow(node("a"))
	flow.Name = strings.Repeat("long", 20)
	plan := planOf(flow)
	require.Len(t, plan.Children, 1)
	job := plan.Children[0].Object().(*batchv1.Job)
	for label, value := range PodLabels(flow, "a") {
		assert.Equal(t, value, job.Spec.Template.Labels[label], label)
	}
}
