package explaincmd

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/config/crd"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func made(t *testing.T, obj client.Object, apiVersion, kind string, owned ...*diagnose.Object) *diagnose.Object {
	t.Helper()
	obj.SetCreationTimestamp(metav1.NewTime(now.Add(-time.Minute)))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	u := &unstructured.Unstructured{Object: content}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return diagnose.NewObject(u, nil, owned...)
}

// job returns a Job of a node that has ended, or not.
func job(t *testing.T, name, node, condition string) *diagnose.Object {
	t.Helper()
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"api.practice.com/flow": node}}}
	started := metav1.NewTime(now.Add(-time.Minute))
	j.Status.StartTime = &started
	if condition != "" {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobConditionType(condition), Status: "True", Reason: "BackoffLimitExceeded"}}
	}
	return made(t, j, "batch/v1", "Job")
}

// nodeStates returns the states that nodes of a flow can have, by the CRD.
func nodeStates(t *testing.T) []v1alpha1.FlowState {
	t.Helper()
	crds, err := crd.All()
	require.NoError(t, err)
	var states []v1alpha1.FlowState
	for _, u := range crds {
		kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
		if kind != "JobFlow" {
			continue
		}
		version, ok := versions[0].(map[string]any)
		require.True(t, ok)
		of := []string{"schema", "openAPIV3Schema", "properties", "status", "properties", "flows", "items", "properties", "state", "enum"}
		names, _, _ := unstructured.NestedStringSlice(version, of...)
		for _, name := range names {
			states = append(states, v1alpha1.FlowState(name))
		}
	}
	require.NotEmpty(t, states)
	return states
}

func TestNode(t *testing.T) {
	node := func(name string, dependencies ...string) v1alpha1.Flow {
		return v1alpha1.Flow{Name: name, Dependencies: dependencies}
	}
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f", Generation: 1}}
	flow.Spec.Flows = []v1alpha1.Flow{
		node("done"), node("bad"), node("each"), node("gone"), node("lost"), node("after", "done", "bad"), node("when", "done"), node("then", "when"),
		node("waits", "done", "runs"), node("runs"), node("asleep"),
	}
	flow.Spec.Finally = []v1alpha1.Flow{node("last")}
	flow.Status.ObservedGeneration, flow.Status.State = 1, v1alpha1.StateRunning
	for name, s := range map[string]v1alpha1.FlowStatus{
		"done": {State: "Succeed"}, "bad": {State: "Failed"}, "each": {State: "Failed"}, "gone": {State: "Succeed"},
		"lost": {State: "Failed", Message: "BackoffLimitExceeded"}, "after": {State: "Skipped", Message: "not started: bad failed"},
		"when": {State: "Skipped", Message: "not started: when is false"}, "then": {State: "Skipped", Message: "not started: when is skipped"}, "runs": {State: "Running"},
		"asleep": {State: "Suspended"},
	} {
		s.Name = name
		flow.Status.Flows = append(flow.Status.Flows, s)
	}
	for _, state := range nodeStates(t) {
		isPending := state == v1alpha1.FlowPending // which nodes without a status are
		assert.True(t, isPending || slices.ContainsFunc(flow.Status.Flows, func(s v1alpha1.FlowStatus) bool { return s.State == state }),
			"nodes have the state %s: say here what explain makes of it", state)
	}
	root := made(t, flow, "api.practice.com/v1alpha1", "JobFlow", job(t, "f-done", "done", "Complete"), job(t, "f-bad", "bad", "Failed"),
		job(t, "f-each-0", "each", "Complete"), job(t, "f-each-1", "each", "Failed"))
	facts := diagnose.Facts{Now: now, Root: root}

	for name, want := range map[string]struct {
		phase          diagnose.Phase
		object, reason string
		says           string
	}{
		"":       {diagnose.Blocked, "f-bad", "BackoffLimitExceeded", ""},
		"done":   {diagnose.Succeeded, "f-done", "", "it has succeeded"},
		"bad":    {diagnose.Failed, "f-bad", "BackoffLimitExceeded", ""},
		"each":   {diagnose.Failed, "f-each-1", "BackoffLimitExceeded", ""},
		"gone":   {diagnose.Succeeded, "f", "", `node "gone" has succeeded, and its Job no longer exists`},
		"lost":   {diagnose.Failed, "f", "NodeFailed", `node "lost" failed, and its Job no longer exists: BackoffLimitExceeded`},
		"after":  {diagnose.Blocked, "f", "Skipped", `node "after" was skipped: not started: bad failed`},
		"when":   {diagnose.Succeeded, "f", "Skipped", "when is false"},
		"then":   {diagnose.Succeeded, "f", "Skipped", "when is skipped"},
		"waits":  {diagnose.Starting, "f", "", "it waits for runs (Running)"},
		"asleep": {diagnose.Blocked, "f", "Suspended", `node "asleep" is suspended`},
		"last":   {diagnose.Starting, "f", "", "nodes of finally run when all others have ended"},
	} {
		got, err := diagnosed(facts, name)
		require.NoError(t, err)
		assert.Equal(t, want.phase, got.Phase, "%q: %s", name, got.Message)
		assert.Equal(t, want.object, got.Object.Name, name)
		assert.Equal(t, want.reason, got.Reason, name)
		assert.Contains(t, got.Message, want.says, name)
	}
	facts.Root = made(t, flow, "api.practice.com/v1alpha1", "JobFlow", job(t, "f-bad", "bad", "Failed"), job(t, "f-bad-r1", "bad", "Complete"))
	again, err := diagnosed(facts, "bad")
	require.NoError(t, err)
	assert.Equal(t, diagnose.Succeeded, again.Phase, "the Job of the retry counts")
	assert.Equal(t, "f-bad-r1", again.Object.Name)
	facts.Root = root
	flow.Spec.Parallelism, flow.Spec.Flows = new(int32(1)), append(flow.Spec.Flows, node("held"))
	flow.Status.Counts.Running, flow.Status.Current = 1, "runs"
	root = made(t, flow, "api.practice.com/v1alpha1", "JobFlow")
	held, err := diagnosed(diagnose.Facts{Now: now, Root: root}, "held")
	require.NoError(t, err)
	assert.Equal(t, diagnose.Starting, held.Phase)
	assert.Equal(t, `node "held" hasn't started: spec.parallelism is 1, so it waits until another node has ended: runs`, held.Message)
	flow.Spec.Suspend = true
	root = made(t, flow, "api.practice.com/v1alpha1", "JobFlow", job(t, "f-runs", "runs", ""))
	held, err = diagnosed(diagnose.Facts{Now: now, Root: root}, "runs")
	require.NoError(t, err)
	assert.Equal(t, "Suspended", held.Reason)
	assert.Equal(t, "armature resume jobflow/f", held.Next, "its Job alone can't be resumed")
	_, err = diagnosed(facts, "wait")
	assert.ErrorContains(t, err, `JobFlow/f has no node "wait"; did you mean waits?; it has done,`)
	_, err = diagnosed(facts, "nosuch")
	assert.EqualError(t, err, `JobFlow/f has no node "nosuch"; it has done, bad, each, gone, lost, after, when, then, waits, runs, asleep, last`)
	facts.Root = job(t, "j", "", "")
	_, err = diagnosed(facts, "a")
	assert.EqualError(t, err, "Job/j has no nodes; only a JobFlow has")
}
