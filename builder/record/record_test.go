package record_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/record"
)

// A pass is recorded with its inputs, its plan and its requests, and a pass that changes nothing isn't.
func TestPassesThatWriteAreRecorded(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner(), thePassword("hunter2"))
	require.NoError(t, h.pass())
	passes := h.passes()
	require.Len(t, passes, 1)
	p := passes[0]
	assert.Equal(t, "configured", p.Operator)
	assert.Equal(t, "ConfigMap default/web", p.OwnerName())
	assert.True(t, h.client.Now().Equal(p.View.Time))
	assert.Empty(t, p.View.Owned)
	require.Len(t, p.View.Watched, 1)
	require.Len(t, p.Plan.Children, 2)
	assert.True(t, p.Plan.Children[0].CreateOnly)
	assert.Equal(t, []record.Change{{"Pod default/web", "Created"}, {"Secret default/web", "Created"}}, p.Result.Changes)
	var writes []string
	for _, r := range p.Requests {
		if r.Verb == "create" {
			writes = append(writes, r.Object)
		}
	}
	assert.ElementsMatch(t, []string{"Pod default/web", "Secret default/web"}, writes)
	assert.NotEmpty(t, p.Program.Digest)

	require.NoError(t, h.pass())
	assert.Len(t, h.passes(), 1, "nothing changed")
}

// A pass that fails is recorded with its error, and so is an invalid plan.
func TestPassesThatFailAreRecorded(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner(), thePassword("hunter2"))
	h.client.Fail(buildertest.Fault{
		Verb: buildertest.VerbCreate, Error: func(buildertest.Call) error { return errors.New("no hunter2 here") },
	})
	require.Error(t, h.pass())
	passes := h.passes()
	require.Len(t, passes, 1)
	assert.Contains(t, passes[0].Error, "no digest:")
	assert.Contains(t, passes[0].Requests[len(passes[0].Requests)-1].Error, "no digest:")

	h = run(t, configured(func(*corev1.ConfigMap) { panic("oh") }), 1<<20, theOwner())
	require.Error(t, h.pass())
	passes = h.passes()
	require.Len(t, passes, 1)
	assert.Nil(t, passes[0].Plan)
	assert.Contains(t, passes[0].PlanError, "the plan panicked: oh")
}

// A pass that fails before its plan is recorded without one, so that it isn't replayed against an empty plan.
func TestPassesThatFailBeforeTheirPlanHaveNone(t *testing.T) {
	unread := func(context.Context, *corev1.ConfigMap, builder.View) (any, error) {
		return nil, errors.New("no answer")
	}
	h := run(t, configured(nil).External(unread), 1<<20, theOwner())
	require.Error(t, h.pass())
	passes := h.passes()
	require.Len(t, passes, 1)
	assert.Nil(t, passes[0].Plan)
	_, err := record.Replay(configured(nil), scheme.Scheme, &passes[0])
	assert.EqualError(t, err, "the pass over ConfigMap default/web failed before its plan: observe the external state: no answer")
}

// A terminating owner whose view can't be read ends without a plan, and there is none to compare.
func TestTerminatingOwnersWithoutAViewHaveNoPlan(t *testing.T) {
	owner := theOwner()
	owner.Finalizers = []string{"example.com/held"}
	operator := configured(nil).Watches(&corev1.ConfigMap{}, builder.ReferencedBy(func(*corev1.ConfigMap) []string { panic("no name") }))
	h := run(t, operator, 1<<20, owner)
	require.NoError(t, h.client.Delete(t.Context(), theOwner()))
	require.Error(t, h.pass())
	passes := h.passes()
	require.Len(t, passes, 1)
	assert.Nil(t, passes[0].Plan)
	assert.Empty(t, passes[0].PlanError)
	_, err := record.Replay(configured(nil), scheme.Scheme, &passes[0])
	require.ErrorContains(t, err, "the pass over ConfigMap default/web failed before its plan: ")
	assert.ErrorContains(t, err, "panicked: no name")
}

// No form of a Secret's value is in the bytes of a record.
func TestSecretsAreDigests(t *testing.T) {
	for _, value := range []string{"hunter2", "two\nlines \"quoted\"\n", "\x00\x01binary\xff"} {
		h := run(t, configured(nil), 1<<20, theOwner(), thePassword(value))
		require.NoError(t, h.pass())
		require.NoError(t, h.client.Delete(t.Context(), podOf(h)))
		require.NoError(t, h.pass())
		list, err := h.client.recorder.Passes(record.Owner{})
		require.NoError(t, err)
		require.Len(t, list.Items, 2)
		var out bytes.Buffer
		require.NoError(t, list.Write(&out))
		text := out.String()
		for _, form := range []string{
			value, strings.Trim(fmt.Sprintf("%q", value), `"`), strings.TrimSpace(value), base64.StdEncoding.EncodeToString([]byte(value)),
		} {
			assert.NotContains(t, text, form)
		}
		assert.NotContains(t, text, "last-applied-configuration")
		for i := range list.Items {
			replayed, err := record.Replay(configured(nil), scheme.Scheme, &list.Items[i])
			require.NoError(t, err)
			assert.Empty(t, replayed.Differences)
		}
	}
}

func podOf(h *harness) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = h.owner.GetNamespace(), h.owner.GetName()
	return pod
}

// A record is read as it was written, to the byte, and nothing else is read.
func TestRoundTrip(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner(), thePassword("hunter2"))
	require.NoError(t, h.pass())
	list, err := h.client.recorder.Passes(record.Owner{})
	require.NoError(t, err)
	var out, again bytes.Buffer
	require.NoError(t, list.Write(&out))
	read, err := record.Read(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	require.NoError(t, read.Write(&again))
	assert.Equal(t, out.String(), again.String())
	assert.Equal(t, list, read)

	for text, says := range map[string]string{
		strings.Replace(out.String(), record.APIVersion, "record.armature.dev/v9", 1): `apiVersion is "record.armature.dev/v9"`,
		strings.Replace(out.String(), `"operator":`, `"operater":`, 1):                `unknown field "items[0].operater"`,
		out.String() + "{}": "not a record of passes",
		"no":                "not a record of passes",
	} {
		_, err := record.Read(strings.NewReader(text))
		assert.ErrorContains(t, err, says)
	}
}

// Another plan shows its differences; an invalid one does, too.
func TestDifferences(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner(), thePassword("hunter2"))
	require.NoError(t, h.pass())
	pass := &h.passes()[0]
	changed := configured(func(owner *corev1.ConfigMap) { owner.Data["image"] = "web:2" })
	replayed, err := record.Replay(changed, scheme.Scheme, pass)
	require.NoError(t, err)
	assert.Equal(t, []record.Difference{
		{`children["Pod web"].object.spec.containers[name=main].image`, "web:1", "web:2"},
	}, replayed.Differences)

	replayed, err = record.Replay(configured(func(*corev1.ConfigMap) { panic("oh") }), scheme.Scheme, pass)
	require.NoError(t, err)
	assert.Contains(t, replayed.PlanError, "the plan panicked: oh")
	require.NotEmpty(t, replayed.Differences)
}

// The recorder holds at most its bytes, and drops the oldest pass first.
func TestRingIsBounded(t *testing.T) {
	const limit = 8 << 10
	h := run(t, configured(nil), limit, theOwner(), thePassword("hunter2"))
	require.NoError(t, h.pass())
	first := h.passes()[0].Requests
	for range 50 {
		require.NoError(t, h.client.Delete(t.Context(), podOf(h)))
		require.NoError(t, h.pass())
		size, dropped := h.client.recorder.Size()
		assert.LessOrEqual(t, size, limit)
		assert.Zero(t, dropped)
	}
	passes := h.passes()
	assert.Greater(t, len(passes), 1)
	assert.Less(t, len(passes), 51)
	assert.NotEqual(t, first, passes[0].Requests, "the oldest is gone")

	h = run(t, configured(nil), 10, theOwner())
	require.NoError(t, h.pass())
	assert.Empty(t, h.passes())
	_, dropped := h.client.recorder.Size()
	assert.Equal(t, 1, dropped)
}

func TestPassesAreSelected(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner())
	require.NoError(t, h.pass())
	for owner, want := range map[record.Owner]int{
		{}: 1, {Kind: "configmap", Namespace: "default", Name: "web"}: 1, {Kind: "configmap", Name: "other"}: 0, {Kind: "Pod"}: 0,
		{Namespace: "other"}: 0,
	} {
		list, err := h.client.recorder.Passes(owner)
		require.NoError(t, err)
		assert.Len(t, list.Items, want, owner)
	}
}

// The passes are shown with their view, plan and decision.
func TestSteps(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner(), thePassword("hunter2"))
	require.NoError(t, h.pass())
	list, err := h.client.recorder.Passes(record.Owner{})
	require.NoError(t, err)
	list.Items[0].Requests = []record.Request{{Verb: "patch", Object: "Pod default/web", Subresource: "status", DryRun: true, Error: "oh"}}
	list.Items[0].Program = record.Program{Path: "example.com/program", Version: "v1.2.3", Revision: "0123456789abcdef"}
	var out strings.Builder
	require.NoError(t, list.WriteText(&out))
	assert.Equal(t, `ConfigMap default/web at `+list.Items[0].View.Time.UTC().Format(time.RFC3339Nano)+
		`, operator configured of example.com/program v1.2.3 (0123456789ab)
  view
    watched Secret default/password
  plan
    child Pod web
    child Secret web
    next pass after 1m0s
  decision
    Created Pod default/web
    Created Secret default/web
    request: patch Pod default/web, status, a dry run: oh
`, out.String())
}

// The endpoint serves what its query selects, to reads only.
func TestServe(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner(), thePassword("hunter2"))
	require.NoError(t, h.pass())
	get := func(method, query string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.client.recorder.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, record.Path+query, nil))
		return w
	}
	for query, want := range map[string]int{"": 1, "?kind=ConfigMap&namespace=default&name=web": 1, "?name=other": 0} {
		list, err := record.Read(get(http.MethodGet, query).Body)
		require.NoError(t, err)
		assert.Len(t, list.Items, want)
	}
	assert.Equal(t, http.StatusMethodNotAllowed, get(http.MethodPost, "").Code)
}

// A child that still has a former value of a Secret, or that of a deleted one, doesn't reveal it.
func TestFormerSecretsAreDigests(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner(), thePassword("hunter2"))
	require.NoError(t, h.pass())
	again := func() {
		t.Helper()
		copied := &corev1.Secret{}
		copied.Namespace, copied.Name = "default", "web"
		require.NoError(t, h.client.Delete(t.Context(), copied)) // so that the next pass writes
		require.NoError(t, h.pass())
	}
	require.NoError(t, h.client.Delete(t.Context(), thePassword("")))
	require.NoError(t, h.client.Create(t.Context(), thePassword("correct horse")))
	again() // the pod has the former value, also in a URL
	list, err := h.client.recorder.Passes(record.Owner{})
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
	var out bytes.Buffer
	require.NoError(t, list.Write(&out))
	assert.NotContains(t, out.String(), "hunter2")
	assert.NotContains(t, out.String(), "correct horse")

	require.NoError(t, h.client.Delete(t.Context(), thePassword("")))
	again()
	list, err = h.client.recorder.Passes(record.Owner{})
	require.NoError(t, err)
	pod := list.Items[2].View.Owned[0]["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	env := pod["env"].([]any)[0].(map[string]any)
	assert.Regexp(t, "^digest:[0-9a-f]{32}$", env["value"])
}
