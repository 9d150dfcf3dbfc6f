package controlcmd

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// serve returns the URL of an API server with JobFlows of these states, and the names of those that are changed.
func serve(t *testing.T, states map[string]v1alpha1.State) (url string, changed *[]string) {
	t.Helper()
	flow := func(name string) map[string]any {
		status := map[string]any{"state": string(states[name]), "startTime": "2026-01-01T00:00:00Z"}
		if s := states[name]; s == v1alpha1.StateSucceed || s == v1alpha1.StateFailed {
			status["completionTime"] = "2026-01-01T00:00:00Z"
		}
		return map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "JobFlow", "status": status,
			"metadata": map[string]any{"namespace": "default", "name": name, "uid": name, "resourceVersion": "1"}}
	}
	changed = &[]string{}
	const flows = "/apis/api.practice.com/v1alpha1/namespaces/default/jobflows"
	version := metav1.GroupVersionForDiscovery{GroupVersion: v1alpha1.GroupVersion.String(), Version: v1alpha1.GroupVersion.Version}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer any
		switch name := path.Base(r.URL.Path); {
		case r.URL.Path == "/api":
			answer = metav1.APIVersions{}
		case r.URL.Path == "/apis":
			answer = metav1.APIGroupList{Groups: []metav1.APIGroup{{
				Name: v1alpha1.GroupVersion.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}}}
		case r.URL.Path == "/apis/api.practice.com/v1alpha1":
			answer = metav1.APIResourceList{GroupVersion: v1alpha1.GroupVersion.String(), APIResources: []metav1.APIResource{{
				Name: "jobflows", SingularName: "jobflow", Namespaced: true, Kind: "JobFlow", Verbs: []string{"get", "list", "patch"}}}}
		case r.URL.Path == flows:
			var items []any
			for name := range states {
				items = append(items, flow(name))
			}
			answer = map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "JobFlowList", "metadata": map[string]any{}, "items": items}
		case path.Dir(r.URL.Path) == flows && states[name] != "":
			if r.Method == http.MethodPatch {
				*changed = append(*changed, name)
			}
			answer = flow(name)
		default:
			w.WriteHeader(http.StatusNotFound)
			answer = metav1.Status{Status: "Failure", Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound}
		}
		assert.NoError(t, json.NewEncoder(w).Encode(answer))
	}))
	t.Cleanup(server.Close)
	return server.URL, changed
}

// run runs a command against a server.
func run(t *testing.T, url string, args ...string) (out, errs string, err error) {
	t.Helper()
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	for _, cmd := range New() {
		if cmd.Name() != args[0] {
			continue
		}
		var stdout, stderr strings.Builder
		cmd.SetOut(&stdout)
		cmd.SetErr(&stderr)
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetArgs(append(args[1:], "--server", url, "--namespace", "default", "--cache-dir", t.TempDir()))
		err = cmd.Execute()
		return stdout.String(), stderr.String(), err
	}
	require.FailNow(t, "no command "+args[0])
	return "", "", nil
}

// TestEndedObjectsOfASelection holds that a command that runs by the clock, for the objects of a label, succeeds if some have ended.
func TestEndedObjectsOfASelection(t *testing.T) {
	url, changed := serve(t, map[string]v1alpha1.State{"done": v1alpha1.StateSucceed, "lost": v1alpha1.StateFailed, "new": v1alpha1.StateRunning})
	for _, selection := range []string{"--all", "--selector=night=off"} {
		*changed = nil
		out, errs, err := run(t, url, "suspend", "jobflows", selection)
		require.NoError(t, err, selection)
		assert.Equal(t, "jobflow.api.practice.com/new suspended\n", out)
		assert.ElementsMatch(t, []string{
			"jobflows/done: skipped: it has ended already: its state is Succeed", "jobflows/lost: skipped: it has ended already: its state is Failed",
		}, strings.Split(strings.TrimSpace(errs), "\n"))
		assert.Equal(t, []string{"new"}, *changed)

		*changed = nil
		_, errs, err = run(t, url, "retry", "jobflows", selection)
		require.NoError(t, err, selection)
		assert.Contains(t, errs, "jobflows/done: skipped: it has no failed nodes: its state is Succeed")
		assert.Equal(t, []string{"lost"}, *changed)

		*changed = nil
		_, errs, err = run(t, url, "undo", "jobflows", selection)
		require.NoError(t, err, selection)
		assert.Contains(t, errs, "jobflows/new: skipped: nothing to undo")
		assert.Empty(t, *changed)
	}
	_, _, err := run(t, url, "suspend", "jobflow/done", "jobflow/new")
	assert.EqualError(t, err, "jobflows/done: it has ended already: its state is Succeed")
}
