package uiserver

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/wellknown"
)

// withPods gives each node of a flow a Job of its own.
func withPods(flow *v1alpha1.JobFlow) *v1alpha1.JobFlow {
	for i := range flow.Spec.Flows {
		f := &flow.Spec.Flows[i]
		f.JobTemplateRef = ""
		f.JobTemplate = &batchv1.JobSpec{}
		f.JobTemplate.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox"}}
	}
	return flow
}

func TestActions(t *testing.T) {
	api := newAPI(t)
	c := api.Client()
	flow := withPods(flowNamed("a", "nightly"))
	require.NoError(t, c.Create(t.Context(), flow))
	s := newSite(t, api)
	ask := func(verb string) *http.Response {
		return s.post("/api/actions", action{Verb: verb, Kind: "JobFlow", Namespace: "a", Name: "nightly", UID: flow.UID})
	}
	now := func() *v1alpha1.JobFlow {
		f := &v1alpha1.JobFlow{}
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(flow), f))
		return f
	}
	assert.Equal(t, done{Changed: true, Message: "suspended"}, bodyOf[done](t, ask("suspend")))
	assert.True(t, now().Spec.Suspend)
	assert.Equal(t, done{Message: "it is suspended already"}, bodyOf[done](t, ask("suspend")))
	assert.Equal(t, done{Changed: true, Message: "resumed"}, bodyOf[done](t, ask("resume")))
	assert.False(t, now().Spec.Suspend)
	assert.Equal(t, done{Changed: true, Message: "paused"}, bodyOf[done](t, ask("pause")))
	assert.Equal(t, "true", now().Annotations[wellknown.AnnotationPaused])
	assert.Equal(t, done{Changed: true, Message: "unpaused"}, bodyOf[done](t, ask("unpause")))
	assert.Equal(t, done{Changed: true, Message: "terminated"}, bodyOf[done](t, ask("terminate")))
	assert.True(t, now().Spec.Terminate)

	answer := ask("retry")
	assert.Equal(t, http.StatusUnprocessableEntity, answer.StatusCode)
	assert.Equal(t, "it has no failed nodes: its state is Pending", bodyOf[failure](t, answer).Error)
	assert.Equal(t, http.StatusUnprocessableEntity, ask("explode").StatusCode)

	other := s.post("/api/actions", action{Verb: "delete", Kind: "JobFlow", Namespace: "a", Name: "nightly", UID: "another"})
	assert.Equal(t, http.StatusConflict, other.StatusCode)
	assert.Equal(t, done{Changed: true, Message: "deleted"}, bodyOf[done](t, ask("delete")))
	assert.Equal(t, http.StatusNotFound, ask("delete").StatusCode)
	assert.Equal(t, http.StatusBadRequest, s.post("/api/actions", action{Verb: "delete", Kind: "JobFlow", Name: "nightly"}).StatusCode)
	assert.Equal(t, http.StatusBadRequest,
		s.post("/api/actions", action{Verb: "delete", Kind: "Secret", Namespace: "a", Name: "x", UID: "y"}).StatusCode, "kinds of the page alone")
}

// A refused action proves that the answers about rights are out of date: they are asked for again.
func TestARefusedActionIsNotOfferedAgain(t *testing.T) {
	flow := flowNamed("a", "nightly")
	flow.UID = "u"
	api := newAPI(t, flow)
	s := newSite(t, api)
	verbs := func() []string { return bodyOf[accessInfo](t, s.get("/api/access?namespace=a")).Kinds[0].Verbs["a"] }
	assert.Contains(t, verbs(), "patch")
	api.deny(func(verb, _, _ string) bool { return verb == "patch" })
	assert.Contains(t, verbs(), "patch", "an answer holds for a while")
	answer := s.post("/api/actions", action{Verb: "suspend", Kind: "JobFlow", Namespace: "a", Name: "nightly", UID: "u"})
	assert.Equal(t, http.StatusForbidden, answer.StatusCode)
	assert.NotContains(t, verbs(), "patch")
}

// The server adds no right to the viewer's.
func TestAnActionNeedsTheViewersRight(t *testing.T) {
	flow := withPods(flowNamed("a", "nightly"))
	flow.UID = "u"
	api := newAPI(t, flow)
	api.deny(func(verb, _, _ string) bool { return verb == "patch" || verb == "delete" || verb == "create" })
	s := newSite(t, api)
	for _, verb := range []string{"suspend", "pause", "delete", "rerun"} {
		answer := s.post("/api/actions", action{Verb: verb, Kind: "JobFlow", Namespace: "a", Name: "nightly", UID: "u", Node: "a"})
		assert.Equal(t, http.StatusForbidden, answer.StatusCode, verb)
		assert.Equal(t, "Forbidden", bodyOf[failure](t, answer).Reason)
	}
	for _, k := range bodyOf[accessInfo](t, s.get("/api/access?namespace=a")).Kinds {
		assert.NotContains(t, k.Verbs["a"], "patch", k.Kind)
		assert.NotContains(t, k.Verbs["a"], "delete", k.Kind)
	}
}

func TestRerun(t *testing.T) {
	flow := withPods(flowNamed("a", "nightly",
		v1alpha1.Flow{Name: "build"},
		v1alpha1.Flow{Name: "unit", Dependencies: []string{"build"}},
		v1alpha1.Flow{Name: "pack", Dependencies: []string{"build"}, Inputs: []v1alpha1.Input{{Env: "TAG", From: "build"}}},
		v1alpha1.Flow{Name: "ship", Dependencies: []string{"pack", "unit"}, Inputs: []v1alpha1.Input{{Env: "IMAGE", From: "pack"}}}))
	flow.UID, flow.Labels = "u", map[string]string{"team": "x"}
	flow.Spec.Retry, flow.Spec.Terminate = 2, true
	flow.Status.Outputs = []v1alpha1.FlowOutput{{Name: "build", Value: "v$(X)1"}}
	flow.Status.Flows = []v1alpha1.FlowStatus{
		{Name: "build", State: v1alpha1.FlowSucceed}, {Name: "unit", State: v1alpha1.FlowSucceed}, {Name: "pack", State: v1alpha1.FlowFailed},
	}
	flow.Spec.Flows[2].JobTemplate.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "URL", Value: "/$(TAG)"}}
	api := newAPI(t, flow)
	s := newSite(t, api)
	answer := bodyOf[done](t, s.post("/api/actions", action{Verb: "rerun", Kind: "JobFlow", Namespace: "a", Name: "nightly", UID: "u", Node: "pack"}))
	require.NotNil(t, answer.Created)
	again := &v1alpha1.JobFlow{}
	require.NoError(t, api.Client().Get(t.Context(), client.ObjectKey{Namespace: "a", Name: answer.Created.Name}, again))
	assert.Equal(t, map[string]string{"team": "x", LabelRerunOf: "nightly"}, again.Labels)
	assert.Zero(t, again.Spec.Retry)
	assert.False(t, again.Spec.Terminate)
	require.Len(t, again.Spec.Flows, 2)
	pack, ship := again.Spec.Flows[0], again.Spec.Flows[1]
	assert.Equal(t, "pack", pack.Name)
	assert.Empty(t, pack.Dependencies)
	assert.Empty(t, pack.Inputs)
	assert.Equal(t, []corev1.EnvVar{{Name: "TAG", Value: "v$$(X)1"}, {Name: "URL", Value: "/$(TAG)"}},
		pack.JobTemplate.Template.Spec.Containers[0].Env, "as the operator gives an input: literally, and before the container's own variables")
	assert.Equal(t, []string{"pack"}, ship.Dependencies)
	assert.Equal(t, []v1alpha1.Input{{Env: "IMAGE", From: "pack"}}, ship.Inputs)
}

func TestRerunIsRefusedWhereItWouldRunSomethingElse(t *testing.T) {
	flow := withPods(flowNamed("a", "f",
		v1alpha1.Flow{Name: "one"}, v1alpha1.Flow{Name: "two", Dependencies: []string{"one"}, When: "jobs.one.succeeded"},
		v1alpha1.Flow{Name: "three", Dependencies: []string{"one"}, Inputs: []v1alpha1.Input{{Env: "X", From: "one"}}},
		v1alpha1.Flow{Name: "four", Dependencies: []string{"one"}, ForEach: &v1alpha1.ForEach{FromOutput: "one"}}))
	flow.Status.Flows = []v1alpha1.FlowStatus{{Name: "one", State: v1alpha1.FlowSucceed}}
	for node, text := range map[string]string{
		"two": "has a when", "three": "isn't recorded any more", "four": "has its items from", "none": `no node "none"`,
	} {
		_, err := from(flow, node)
		assert.ErrorContains(t, err, text, node)
	}
	all, err := from(flow, "one")
	require.NoError(t, err)
	assert.Equal(t, flow.Spec.Flows, all.Spec.Flows)
	flow.Spec.SuccessWhen = "jobs.one.succeeded"
	_, err = from(flow, "three")
	assert.ErrorContains(t, err, "successWhen")
}

// A node starts only if its dependencies succeeded, or failed with allowFailure, also if these don't run again.
func TestRerunIsRefusedIfADependencyHasNotSucceeded(t *testing.T) {
	for state, allowed := range map[v1alpha1.FlowState][2]bool{ // without and with allowFailure
		v1alpha1.FlowSucceed: {true, true}, v1alpha1.FlowFailed: {false, true}, v1alpha1.FlowSkipped: {}, v1alpha1.FlowRunning: {},
		v1alpha1.FlowSuspended: {}, v1alpha1.FlowPending: {},
	} {
		for i, allowFailure := range []bool{false, true} {
			flow := withPods(flowNamed("a", "f", v1alpha1.Flow{Name: "build"}, v1alpha1.Flow{Name: "test", AllowFailure: allowFailure},
				v1alpha1.Flow{Name: "deploy", Dependencies: []string{"build", "test"}}))
			flow.Status.Flows = []v1alpha1.FlowStatus{{Name: "build", State: v1alpha1.FlowSucceed}, {Name: "test", State: state}}
			_, err := from(flow, "build")
			if allowed[i] {
				assert.NoError(t, err, "%s, allowFailure: %t", state, allowFailure)
			} else {
				assert.EqualError(t, err, "node deploy depends on test, which doesn't run again and is "+string(state)+": run again from test")
			}
		}
	}
}

// A node in finally has no dependencies: its when reads all nodes of the flow.
func TestRerunIsRefusedIfFinallyReadsNodesThatAreLeftOut(t *testing.T) {
	flow := withPods(flowNamed("a", "f", v1alpha1.Flow{Name: "one"}, v1alpha1.Flow{Name: "two", Dependencies: []string{"one"}}))
	flow.Status.Flows = []v1alpha1.FlowStatus{{Name: "one", State: v1alpha1.FlowSucceed}}
	for when, refused := range map[string]bool{
		"jobs.one.failed":                      true,
		`jobs["one"].failed`:                   true,
		"jobs.exists(n, jobs[n].failed)":       true,
		`state == "Failed"`:                    false,
		`state == "Failed" || jobs.one.failed`: true,
		`state == "no jobs"`:                   true, // a text: refused rather than parsed
	} {
		flow.Spec.Finally = []v1alpha1.Flow{{Name: "report", When: when, JobTemplate: flow.Spec.Flows[0].JobTemplate.DeepCopy()}}
		_, err := from(flow, "two")
		if refused {
			assert.ErrorContains(t, err, "node report in finally has a when that reads nodes, and some don't run again: "+when)
		} else {
			assert.NoError(t, err, when)
		}
		_, err = from(flow, "one")
		assert.NoError(t, err, "all nodes run again: %s", when)
	}
}
