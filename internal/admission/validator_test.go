package admission

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/jobflow"
)

// flowOf is a flow of one node that depends on these.
func flowOf(dependencies ...string) *v1alpha1.JobFlow {
	f := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "f", UID: "u", Generation: 1}}
	f.Spec.Flows = []v1alpha1.Flow{{Name: "a", JobTemplateRef: "later", Dependencies: dependencies}}
	return f
}

func TestValidator(t *testing.T) {
	v := New("JobFlow", jobflow.Plan)
	good, bad := flowOf(), flowOf("a") // a cycle

	_, err := v.ValidateCreate(t.Context(), good)
	require.NoError(t, err, "a template that isn't there may come later")
	_, err = v.ValidateCreate(t.Context(), bad)
	require.ErrorContains(t, err, `JobFlow.api.practice.com "f" is invalid: spec: `)
	assert.True(t, apierrors.IsInvalid(err))

	_, err = v.ValidateUpdate(t.Context(), good, bad)
	require.Error(t, err)
	_, err = v.ValidateUpdate(t.Context(), bad, good)
	require.NoError(t, err, "it is mended")
	labelled := bad.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	_, err = v.ValidateUpdate(t.Context(), bad, labelled)
	require.NoError(t, err, "all but the spec may change")
	going := bad.DeepCopy()
	going.DeletionTimestamp = &metav1.Time{}
	_, err = v.ValidateUpdate(t.Context(), good, going)
	require.NoError(t, err, "it is about to go")
	_, err = v.ValidateDelete(t.Context(), bad)
	require.NoError(t, err)
}

// What has become of the former spec isn't held against the new one, and nothing is changed in what was given.
func TestTheStatusDoesNotCount(t *testing.T) {
	v := New("JobFlow", jobflow.Plan)
	ended := flowOf("a")
	now := metav1.Now()
	ended.Status.CompletionTime = &now
	ended.Status.Conditions = []metav1.Condition{{Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec}}
	before := ended.DeepCopy()
	_, err := v.ValidateUpdate(t.Context(), flowOf(), ended)
	require.Error(t, err)
	assert.Equal(t, before, ended)
}

// What a plan calls without effect is accepted with a warning, which kubectl prints.
func TestWarnings(t *testing.T) {
	spec := v1alpha1.MiniClusterSpec{Size: 1, Interactive: true, Containers: []v1alpha1.MiniClusterContainer{{Image: "i", Command: "c"}}}
	warning := "spec.containers[0].command has no effect: the cluster is interactive"
	cluster := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "u", Generation: 1}, Spec: spec}
	told, err := New("MiniCluster", MiniClusterPlan).ValidateCreate(t.Context(), cluster)
	require.NoError(t, err)
	assert.Equal(t, []string{warning}, []string(told))
	quiet := cluster.DeepCopy()
	quiet.Spec.Containers[0].Command = ""
	told, err = New("MiniCluster", MiniClusterPlan).ValidateUpdate(t.Context(), cluster, quiet)
	require.NoError(t, err)
	assert.Empty(t, told)

	job := &v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "u", Generation: 1}}
	job.Spec.MiniCluster = &spec
	told, err = New("FluxJob", FluxJobPlan).ValidateCreate(t.Context(), job)
	require.NoError(t, err)
	assert.Equal(t, []string{"of the MiniCluster, " + warning}, []string(told))
}

func TestMiniClustersNeedNoCertificate(t *testing.T) {
	plan := MiniClusterPlan(&v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}, buildertest.NewView(metav1.Now().Time))
	assert.NotNil(t, plan.Status)
}

func TestJudge(t *testing.T) {
	u := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(`{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {name: f}, spec: {flows: [{name: a, jobTemplateRef: t}]}}`), &u.Object))
	require.NoError(t, Judge(u))
	require.NoError(t, unstructured.SetNestedField(u.Object, "Bad_Name", "spec", "globalParams", "nodeName"))
	assert.True(t, apierrors.IsInvalid(Judge(u)))
	require.NoError(t, unstructured.SetNestedField(u.Object, "text", "spec", "parallelism"))
	require.Error(t, Judge(u), "no JobFlow")
	u.SetKind("JobTemplate")
	require.NoError(t, Judge(u), "it has no plan")
	u.SetKind("JobFlow")
	u.SetAPIVersion("flow.example.com/v1")
	require.NoError(t, Judge(u), "someone else's")
}

// Which gang scheduler is the default depends on the cluster: what one of them knows isn't refused.
func TestJudgeKnowsNoGangSchedulers(t *testing.T) {
	judge := func(policy string) error {
		u := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(`{apiVersion: api.practice.com/v1alpha1, kind: ReplicaJob, metadata: {name: j}, spec: {
			runPolicy: {schedulingPolicy: `+policy+`},
			replicaSpecs: {Worker: {template: {spec: {containers: [{name: main, image: i}]}}}}}}`), &u.Object))
		return Judge(u)
	}
	require.NoError(t, judge(`{priorityClass: high}`))
	require.NoError(t, judge(`{provider: Volcano, queue: q}`), "it may be installed")
	require.ErrorContains(t, judge(`{queue: q}`), "spec.runPolicy.schedulingPolicy.queue: Forbidden")
	require.ErrorContains(t, judge(`{provider: PodDisruptionBudget, priorityClass: high}`), "spec.runPolicy.schedulingPolicy.priorityClass: Forbidden")
}
