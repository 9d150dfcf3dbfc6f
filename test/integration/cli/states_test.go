package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	nethttp "net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/test/testcluster"
)

// specs are what the kinds need besides what a sample says.
var specs = map[string]string{
	"JobFlow":     `{flows: [{name: a, jobTemplateRef: t}]}`,
	"DaemonJob":   `{template: {spec: {containers: [{name: a, image: i}]}}}`,
	"ReplicaJob":  `{replicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: a, image: i}]}}}}}`,
	"MiniCluster": `{size: 2, flux: {disable: true}, containers: [{image: i, command: c}]}`,
	"FluxJob":     `{queue: q, image: i, command: c}`,
}

// TestEveryState: on a cluster, too, the commands and the columns say of every state of every kind what testdata/states.txt has.
// TestEveryState of cmd/armature/internal/watchcmd writes that table, and fails when a state isn't in it. Each state takes four
// processes: the small size has every third one.
func TestEveryState(t *testing.T) {
	p := connect(t)
	t.Parallel()
	text, err := os.ReadFile("testdata/states.yaml")
	require.NoError(t, err)
	asJSON, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	var samples []struct {
		Kind    string         `json:"kind"`
		Variant string         `json:"variant"`
		Spec    map[string]any `json:"spec"`
		Status  map[string]any `json:"status"`
	}
	require.NoError(t, utiljson.Unmarshal(asJSON, &samples))
	table, err := os.ReadFile("testdata/states.txt")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^(\S.*)\n((?:  .*\n)+)`).FindAllStringSubmatch(string(table), -1)
	require.Len(t, rows, len(samples))
	want := map[string]string{}
	for _, row := range rows {
		want[row[1]] = row[2]
	}

	for i, s := range samples {
		if i%testsize.Pick(12, 1) != 0 {
			continue
		}
		name := strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Kind, s.Status["state"], s.Variant))
		u := p.putInState(s.Kind, fmt.Sprintf("it-%d", i), s.Spec, s.Status)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here := &place{p.Place}
			said := here.whatIsSaid(t, u)
			assert.Equal(t, want[name], said)
		})
	}
}

// putInState creates an object and writes its status as its operator would; no manager is here.
func (p *place) putInState(kind, name string, spec, status map[string]any) *unstructured.Unstructured {
	p.T.Helper()
	var full map[string]any
	require.NoError(p.T, yaml.Unmarshal([]byte(specs[kind]), &full))
	u := &unstructured.Unstructured{Object: map[string]any{"spec": full}}
	maps.Copy(full, spec)
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	u.SetName(name)
	if status["state"] == "Terminating" {
		u.SetFinalizers([]string{"example.com/hold"})
	}
	p.create(u)
	status["observedGeneration"] = int64(1)
	for _, c := range status["conditions"].([]any) { //nolint:forcetypeassert // each sample has some
		c.(map[string]any)["lastTransitionTime"] = "2026-01-01T00:00:00Z" //nolint:forcetypeassert // as above
	}
	u.Object["status"] = status
	require.NoError(p.T, p.Client.Status().Update(p.T.Context(), u))
	if status["state"] == "Terminating" {
		require.NoError(p.T, p.Client.Delete(p.T.Context(), u))
		p.T.Cleanup(func() {
			release := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
			assert.NoError(p.T, p.Client.Patch(context.Background(), u, release))
		})
	}
	return u
}

// whatIsSaid returns what is said of an object, as the table has it.
func (p *place) whatIsSaid(t *testing.T, u *unstructured.Unstructured) string {
	t.Helper()
	what := strings.ToLower(u.GetKind()) + "/" + u.GetName()
	var found struct{ Phase, Reason, Message string }
	out, errs, _ := p.armature("explain", what, "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(out), &found), errs)
	explain := found.Phase
	if found.Reason != "" {
		explain += ", " + found.Reason
	}
	tree := strings.Fields(strings.Split(p.succeeds("tree", what), "\n")[1])
	return fmt.Sprintf("  explain  %s: %s\n  watch    %s\n  tree     %s\n  columns  %s\n",
		explain, found.Message, p.watched(t, what, u), strings.Join(tree[1:len(tree)-1], " "), p.columns(t, u))
}

var watchedState = regexp.MustCompile(`(?m)^ *\d+\w*  \S+ \S+ is (.*)\n`)

// watched returns what watch says first, and its exit code if it ends.
func (p *place) watched(t *testing.T, what string, u *unstructured.Unstructured) string {
	t.Helper()
	process := p.startWatch(what)
	p.Eventually("watch "+what+" to say its state", func() bool { return watchedState.MatchString(process.Log.String()) })
	log := process.Log.String()
	text := watchedState.FindStringSubmatch(log)[1]
	ready, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range ready {
		condition := c.(map[string]any) //nolint:forcetypeassert // the test has made it
		if problem := fmt.Sprintf("%s: %s", condition["reason"], condition["message"]); condition["type"] == "Ready" && strings.Contains(log, "  "+problem+"\n") {
			text += "; " + problem
		}
	}
	if _, over, _ := unstructured.NestedString(u.Object, "status", "completionTime"); over || strings.Contains(text, "InvalidSpec") {
		_, errs, code := p.armature("watch", what)
		require.Empty(t, errs)
		text += fmt.Sprintf(" (exit code %d)", code)
	}
	process.Stop()
	return text
}

// columns returns the object's columns as the API server has them for kubectl.
func (p *place) columns(t *testing.T, u *unstructured.Unstructured) string {
	t.Helper()
	config := testcluster.Config(t)
	http, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	path := fmt.Sprintf("%s/apis/%s/namespaces/%s/%ss/%s", strings.TrimSuffix(config.Host, "/"), v1alpha1.GroupVersion, u.GetNamespace(), strings.ToLower(u.GetKind()), u.GetName())
	request, err := nethttp.NewRequestWithContext(t.Context(), nethttp.MethodGet, path, nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	response, err := http.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	var table metav1.Table
	require.NoError(t, json.Unmarshal(raw, &table))
	var cells []string
	for i, cell := range table.Rows[0].Cells {
		if c := table.ColumnDefinitions[i]; cell != nil && !slices.Contains([]string{"Name", "Age"}, c.Name) {
			cells = append(cells, fmt.Sprintf("%s=%v", c.Name, cell))
		}
	}
	return strings.Join(cells, " ")
}
