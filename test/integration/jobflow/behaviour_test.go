package jobflow

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
)

func (p *place) create(name string, nodes ...v1alpha1.Flow) {
	p.T.Helper()
	require.NoError(p.T, p.Client.Create(p.T.Context(), &v1alpha1.JobFlow{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name},
		Spec:       v1alpha1.JobFlowSpec{Flows: nodes},
	}))
}

func jobSpec(script string) *batchv1.JobSpec {
	return &batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", script},
	}}}}}
}

func node(name, script string, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplate: jobSpec(script)}
}

func when(text string, n v1alpha1.Flow) v1alpha1.Flow {
	n.When = text
	return n
}

func TestBadInputIsToldOnceAndStartsNothing(t *testing.T) {
	mounting := node("a", "true")
	mounting.ShareVolumeMounts = []corev1.VolumeMount{{Name: "nowhere", MountPath: "/x"}}
	tests := map[string]struct {
		nodes []v1alpha1.Flow
		want  string
	}{
		"duplicate":  {[]v1alpha1.Flow{node("a", "true"), node("a", "true")}, `flow "a": spec.flows[1].name: Duplicate value: "a"`},
		"unknown":    {[]v1alpha1.Flow{node("a", "true"), node("b", "true", "x")}, `flow "b": spec.flows[1].dependencies[0]: Not found: "x"`},
		"cycle":      {[]v1alpha1.Flow{node("a", "true", "b"), node("b", "true", "a"), node("c", "true")}, `flow "a": spec.flows[0].dependencies: Invalid value: "a -> b -> a"`},
		"when":       {[]v1alpha1.Flow{node("a", "true"), when("jobs.a.succeeded &&", node("b", "true", "a"))}, `flow "b": spec.flows[1].when: Invalid value: "jobs.a.succeeded &&": line 1, column 20: Syntax error`},
		"not-a-bool": {[]v1alpha1.Flow{node("a", "true"), when("jobs.a.output", node("b", "true", "a"))}, `flow "b": spec.flows[1].when: Invalid value: "jobs.a.output": line 1, column 1: it is of type string, and must be a bool`},
		"no-volume":  {[]v1alpha1.Flow{mounting}, `flow "a": spec.flows[0].shareVolumeMounts[0].name: Not found: "nowhere"`},
	}
	p := newPlaceAlone(t)
	webhook.Spare(t, p.Namespace)
	p.manage()
	for name, tt := range tests {
		p.create(name, tt.nodes...)
	}
	for name, tt := range tests {
		flow := p.waitState(name, v1alpha1.StateFailed)
		for kind, value := range map[string]metav1.ConditionStatus{"Ready": metav1.ConditionFalse, "Stalled": metav1.ConditionTrue} {
			c := meta.FindStatusCondition(flow.Status.Conditions, kind)
			require.NotNil(t, c, "%s: %s", name, kind)
			assert.Equal(t, value, c.Status, name)
			assert.Equal(t, v1alpha1.ReasonInvalidSpec, c.Reason, name)
			assert.Contains(t, c.Message, tt.want)
		}
		p.touch(name)
		assert.Contains(t, p.OneEvent(name, v1alpha1.ReasonInvalidSpec).Note, tt.want)
	}
	assert.Empty(t, p.Jobs())

	p.edit("unknown", func(spec *v1alpha1.JobFlowSpec) { spec.Flows[1].Dependencies = []string{"a"} })
	p.waitState("unknown", v1alpha1.StateSucceed)
}

func TestATemplateMayComeLate(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("late", node("a", "true"), v1alpha1.Flow{Name: "b", JobTemplateRef: "t"})
	flow := p.wait("late", "a has run and b waits", func(f *v1alpha1.JobFlow) bool {
		return len(f.Status.Flows) == 2 && f.Status.Flows[0].State == v1alpha1.FlowSucceed
	})
	ready := meta.FindStatusCondition(flow.Status.Conditions, "Ready")
	assert.Equal(t, v1alpha1.ReasonJobTemplateNotFound, ready.Reason)
	assert.Equal(t, `flow "b" waits for JobTemplate "t": spec.flows[1].jobTemplateRef: Not found: "t"`, ready.Message)
	p.OneEvent("late", v1alpha1.ReasonJobTemplateNotFound)

	require.NoError(t, p.Client.Create(t.Context(), &v1alpha1.JobTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "t"},
		Spec:       v1alpha1.JobTemplateSpec{JobTemplate: *jobSpec("true")},
	}))
	p.waitState("late", v1alpha1.StateSucceed)
	p.OneEvent("late", v1alpha1.ReasonJobTemplateNotFound)
}

func TestAPassOverAnUnchangedFlowMakesNoRequest(t *testing.T) {
	p := newPlaceAlone(t)
	webhook.Spare(t, p.Namespace)
	var counted harness.Requests
	p.manage(counted.Record)

	p.create("over", node("a", "true"), node("b", "true", "a"))
	p.waitState("over", v1alpha1.StateSucceed)
	p.create("bad", node("a", "true", "x"))
	p.waitState("bad", v1alpha1.StateFailed)
	p.create("waiting", node("a", "true"), node("b", "true", "a"), v1alpha1.Flow{Name: "c", JobTemplateRef: "missing"})
	p.wait("waiting", "all but c has run", func(f *v1alpha1.JobFlow) bool {
		return len(f.Status.Flows) == 3 && f.Status.Flows[1].State == v1alpha1.FlowSucceed
	})
	for flow, reason := range map[string]string{
		"over": v1alpha1.ReasonSucceeded, "bad": v1alpha1.ReasonInvalidSpec, "waiting": v1alpha1.ReasonJobTemplateNotFound,
	} {
		p.OneEvent(flow, reason) // events are written a moment later
	}
	require.NotEmpty(t, counted.Take())
	for _, flow := range []string{"over", "bad", "waiting"} {
		p.touch(flow)
		p.touch(flow)
		assert.Empty(t, counted.Take(), flow)
	}
}

func TestARestartedManagerCreatesEachJobOnce(t *testing.T) {
	p := newPlace(t)
	created := harness.CountCreations(t, p.Client, p.Namespace)
	stop := p.manage()
	marker := filepath.Join(t.TempDir(), "go-on")
	p.create("restarted", node("a", "true"), node("b", harness.ScriptUntil(marker), "a"), node("c", "true", "b"), node("d", "true", "a"))
	for _, running := range []string{"a", "b"} {
		p.wait("restarted", running+" has a Job", func(f *v1alpha1.JobFlow) bool {
			for _, s := range f.Status.Flows {
				if s.Name == running && s.Job != "" {
					return true
				}
			}
			return false
		})
		stop()
		stop = p.manage()
	}
	require.NoError(t, os.WriteFile(marker, nil, 0o600))
	p.waitState("restarted", v1alpha1.StateSucceed)
	assert.Equal(t, map[string]int{"restarted-a": 1, "restarted-b": 1, "restarted-c": 1, "restarted-d": 1}, created.ByName())
}

func TestAFinishedFlowNeverRunsAgain(t *testing.T) {
	p := newPlaceAlone(t)
	p.manage()
	brief := node("brief", "true")
	brief.JobTemplate.TTLSecondsAfterFinished = ptr.To[int32](0)
	p.create("over", brief, node("next", "true", "brief"))
	p.waitState("over", v1alpha1.StateSucceed)
	p.Eventually("the Job with a TTL is deleted", func() bool { return len(p.Jobs()) == 1 })

	require.NoError(t, p.Client.DeleteAllOf(t.Context(), &batchv1.Job{}, client.InNamespace(p.Namespace), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	p.Eventually("all Jobs are deleted", func() bool { return len(p.Jobs()) == 0 })
	p.touch("over")
	assert.Empty(t, p.Jobs())
	assert.Equal(t, v1alpha1.StateSucceed, p.flow("over").Status.State)
}

func TestAJobThatTheServerRefuses(t *testing.T) {
	p := newPlace(t)
	p.manage()
	bad := node("bad", "true")
	bad.JobTemplate.Template.Spec.Containers[0].Image = ""
	p.create("refused", bad)
	flow := p.wait("refused", "it is stalled", func(f *v1alpha1.JobFlow) bool {
		return meta.IsStatusConditionTrue(f.Status.Conditions, "Stalled")
	})
	assert.Equal(t, v1alpha1.StatePending, flow.Status.State, "nothing runs")
	assert.Contains(t, meta.FindStatusCondition(flow.Status.Conditions, "Ready").Message, "containers[0].image: Required value")

	p.edit("refused", func(spec *v1alpha1.JobFlowSpec) {
		spec.Flows[0].JobTemplate.Template.Spec.Containers[0].Image = "busybox:1.28"
	})
	flow = p.waitState("refused", v1alpha1.StateSucceed)
	assert.Nil(t, meta.FindStatusCondition(flow.Status.Conditions, "Stalled"))
}
