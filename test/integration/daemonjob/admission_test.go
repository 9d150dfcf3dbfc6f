package daemonjob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
)

func selector(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func TestWhatIsRefusedAtAdmission(t *testing.T) {
	tests := map[string]struct{ spec, refused string }{
		"nothing but a template":       {`{}`, ""},
		"all that means the whole":     {`{parallelism: 10%, failurePolicy: Pause, maxFailures: 3, activeDeadlineSeconds: 1, ttlSecondsAfterFinished: 0, suspend: true, managedBy: api.practice.com/armature, retry: 1}`, ""},
		"a list in several lines":      {`{excludeNodeList: "a.b,\n  c-1 ,"}`, ""},
		"no template":                  {`{template: null}`, "spec.template: Required value"},
		"a list with other separators": {`{excludeNodeList: "a;b"}`, `spec.excludeNodeList: Invalid value: "a;b": must be node names separated by commas`},
		"an empty selector":            {`{excludeNodeSelector: {}}`, "spec.excludeNodeSelector: Invalid value: needs matchLabels or matchExpressions"},
		"nothing at once":              {`{parallelism: 0}`, "spec.parallelism: Invalid value: 0: must be a number of nodes, at least 1, or a percentage from 1% to 100%"},
		"a part without a percentage":  {`{parallelism: "3"}`, `spec.parallelism: Invalid value: "3": must be a number of nodes`},
		"more than all":                {`{failurePolicy: Pause, maxFailures: 101%}`, `spec.maxFailures: Invalid value: "101%": must be a number of nodes`},
		"failures that don't matter":   {`{maxFailures: 3}`, "spec.maxFailures: Invalid value: needs failurePolicy FailFast or Pause"},
		"another failure policy":       {`{failurePolicy: Ignore}`, `spec.failurePolicy: Unsupported value: "Ignore": supported values: "Continue", "FailFast", "Pause"`},
		"another completion policy":    {`{completionPolicy: Sometimes}`, `supported values: "Always", "Never"`},
		"never, but for some time":     {`{completionPolicy: Never, ttlSecondsAfterFinished: 1}`, "spec.ttlSecondsAfterFinished: Invalid value: needs completionPolicy Always"},
		"never, until a deadline":      {`{completionPolicy: Never, activeDeadlineSeconds: 1}`, "spec.activeDeadlineSeconds: Invalid value: needs completionPolicy Always"},
		"no time":                      {`{activeDeadlineSeconds: 0}`, "spec.activeDeadlineSeconds: Invalid value: 0: spec.activeDeadlineSeconds in body should be greater than or equal to 1"},
		"a selector":                   {`{selector: {matchLabels: {a: b}}}`, "spec.selector: Invalid value: can't be set: each node's Job selects its own pods"},
		"a selector of one's own":      {`{manualSelector: true}`, "spec.manualSelector: Invalid value: can't be true"},
		"no selector of one's own":     {`{manualSelector: false}`, ""},
		"a manager without a domain":   {`{managedBy: me}`, "spec.managedBy: Invalid value"},
		"a field that there isn't":     {`{nodeSelector: {a: b}}`, `unknown field "spec.nodeSelector"`},
	}
	p := newPlace(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}}}
			require.NoError(t, yaml.Unmarshal([]byte(tt.spec), &spec))
			job := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
			job.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("DaemonJob"))
			job.SetNamespace(p.Namespace)
			job.SetGenerateName("admission-")
			err := client.WithFieldValidation(p.Client, metav1.FieldValidationStrict).Create(t.Context(), job)
			if tt.refused == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.refused)
			}
		})
	}
}

func TestWhatCannotBeChanged(t *testing.T) {
	p := newPlace(t)
	spec := script("true")
	spec.Retry = 2
	p.create(spec)
	for name, tt := range map[string]struct {
		change  func(*v1alpha1.DaemonJobSpec)
		refused string
	}{
		"managedBy": {func(s *v1alpha1.DaemonJobSpec) { s.ManagedBy = new("example.com/other") }, "spec.managedBy: Invalid value: can't be changed once the DaemonJob exists"},
		"retry":     {func(s *v1alpha1.DaemonJobSpec) { s.Retry = 1 }, "spec.retry: Invalid value: can only be increased"},
		"no retry":  {func(s *v1alpha1.DaemonJobSpec) { s.Retry = 0 }, "spec.retry: Invalid value: can only be increased"},
		"the rest": {func(s *v1alpha1.DaemonJobSpec) {
			s.Retry, s.Parallelism, s.ExcludeNodeList = 3, new(intstr.FromInt32(1)), "a"
		}, ""},
	} {
		job := p.get("demo")
		before := job.DeepCopy()
		tt.change(&job.Spec)
		err := p.Client.Patch(t.Context(), job, client.MergeFrom(before), client.DryRunAll)
		if tt.refused == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, tt.refused, name)
		}
	}
}

// What the schema can't say is told by a condition and an event, and starts nothing.
func TestWhatIsRefusedLater(t *testing.T) {
	p := newPlace(t)
	webhook.Spare(t, p.Namespace)
	p.manage()
	spec := script("true")
	spec.GlobalParams.Labels = map[string]string{"a": "not a value"}
	p.create(spec)
	job := p.waitState("demo", v1alpha1.StateFailed)
	for _, kind := range []string{"Ready", "Stalled"} {
		c := meta.FindStatusCondition(job.Status.Conditions, kind)
		require.NotNil(t, c, kind)
		assert.Equal(t, v1alpha1.ReasonInvalidSpec, c.Reason)
		assert.Contains(t, c.Message, `spec.globalParams.labels: Invalid value: "not a value"`)
	}
	assert.Empty(t, p.Jobs())
	p.OneEvent("demo", v1alpha1.ReasonInvalidSpec)
	p.edit(func(s *v1alpha1.DaemonJobSpec) { s.GlobalParams.Labels["a"] = "b" })
	p.waitState("demo", v1alpha1.StateSucceed)
}

func TestATemplateThatTheServerRefuses(t *testing.T) {
	p := newPlace(t)
	p.manage()
	spec := script("true")
	spec.Template.Spec.Containers[0].Image = ""
	p.create(spec)
	job := p.wait("demo", "it is stalled", func(j *v1alpha1.DaemonJob) bool {
		return meta.IsStatusConditionTrue(j.Status.Conditions, "Stalled")
	})
	assert.Equal(t, v1alpha1.StatePending, job.Status.State, "nothing runs")
	assert.Contains(t, meta.FindStatusCondition(job.Status.Conditions, "Ready").Message, "containers[0].image: Required value")
	p.edit(func(s *v1alpha1.DaemonJobSpec) { s.Template.Spec.Containers[0].Image = "busybox:1.28" })
	job = p.waitState("demo", v1alpha1.StateSucceed)
	assert.Nil(t, meta.FindStatusCondition(job.Status.Conditions, "Stalled"))
}
