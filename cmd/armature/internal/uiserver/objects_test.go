package uiserver

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestObjectsAreLive(t *testing.T) {
	api := newAPI(t, flowNamed("a", "first"), flowNamed("b", "second"))
	s := newSite(t, api)
	l := s.listen("/api/stream/objects?kind=JobFlow")
	l.until("reset", nil)
	first := decoded[[]row](t, l.until("set", nil))
	require.Len(t, first, 2)
	assert.Equal(t, []string{"first", "second"}, []string{first[0].Name, first[1].Name})
	l.until("source", has(`"state":"live"`))
	l.until("synced", nil)

	c := api.Client()
	flow := flowNamed("a", "third")
	require.NoError(t, c.Create(t.Context(), flow))
	assert.Len(t, decoded[[]row](t, l.until("set", has("third"))), 1, "the difference alone")

	flow.Status.State = v1alpha1.StateRunning
	require.NoError(t, c.Status().Update(t.Context(), flow))
	changed := decoded[[]row](t, l.until("set", has("Running")))
	require.Len(t, changed, 1)
	assert.Equal(t, toneRun, changed[0].Tone)
	assert.Equal(t, []string{"suspend", "terminate", "pause"}, changed[0].Actions)

	require.NoError(t, c.Delete(t.Context(), flow))
	assert.JSONEq(t, `["`+string(flow.UID)+`"]`, l.until("gone", nil))
}

// Two tabs share one list and one watch.
func TestTabsShareAWatch(t *testing.T) {
	api := newAPI(t, flowNamed("a", "first"))
	s := newSite(t, api)
	for range 3 {
		l := s.listen("/api/stream/objects?kind=JobFlow")
		l.until("set", has("first"))
		l.until("synced", nil)
	}
	assert.Equal(t, 1, api.requests("list JobFlow"))
	require.Eventually(t, func() bool { return api.requests("watch JobFlow") == 1 }, time.Minute, time.Millisecond, "it follows the list")
}

func TestStoppedServerIsSaidAndRecovers(t *testing.T) {
	api := newAPI(t, flowNamed("a", "first"))
	s := newSite(t, api)
	l := s.listen("/api/stream/objects?kind=JobFlow")
	l.until("synced", nil)
	api.stop()
	l.until("source", has(`"state":"unreachable"`))
	require.NoError(t, api.Client().Create(t.Context(), flowNamed("a", "meanwhile")))
	api.start()
	live, set := false, ""
	l.read(func(e sent) bool { // in the order of their messages, or in one message
		set += map[string]string{"set": e.data}[e.event]
		live = live || e.event == "source" && strings.Contains(e.data, `"state":"live"`)
		return live && set != ""
	})
	assert.Len(t, decoded[[]row](t, set), 1, "what has changed meanwhile, and nothing else")
	assert.Equal(t, 1, api.requests("list JobFlow"), "it goes on from the version that it had")
}

// What one may not see is not there, and the page is told why.
func TestOtherNamespacesAreForbidden(t *testing.T) {
	api := newAPI(t, flowNamed("a", "mine"), flowNamed("b", "secret"))
	api.deny(func(_, _, namespace string) bool { return namespace != "a" })
	s := newSite(t, api)
	everything := s.listen("/api/stream/objects?kind=JobFlow")
	everything.until("source", has(`"state":"forbidden"`))
	l := s.listen("/api/stream/objects?kind=JobFlow&namespace=a&namespace=b")
	refused, set := false, ""
	l.read(func(e sent) bool { // in any order
		set += map[string]string{"set": e.data}[e.event]
		refused = refused || e.event == "source" && strings.Contains(e.data, `"namespace":"b","state":"forbidden"`)
		return refused && set != ""
	})
	assert.Contains(t, set, "mine")
	assert.NotContains(t, set, "secret")

	info := bodyOf[accessInfo](t, s.get("/api/access?namespace=a&namespace=b"))
	assert.Len(t, info.Kinds, len(own)+len(below)+1)
	assert.Empty(t, info.Namespaces)
	assert.False(t, info.AllNamespaces)
	for _, k := range info.Kinds {
		assert.NotContains(t, k.Verbs, "b", k.Kind)
		if k.Kind == "JobFlow" {
			assert.Equal(t, []string{"create", "delete", "list", "patch", "watch"}, k.Verbs["a"])
		}
		if k.Kind == "PodLog" {
			assert.Equal(t, []string{"get"}, k.Verbs["a"])
		}
	}
	before := api.requests("review")
	s.get("/api/access?namespace=a&namespace=b")
	assert.Equal(t, before, api.requests("review"), "answers hold for a while")
}

// An API server that has just started refuses everyone until it has read the roles; and rights are granted.
func TestRightsComeAndGo(t *testing.T) {
	api := newAPI(t, flowNamed("a", "first"))
	s := newSite(t, api)
	l := s.listen("/api/stream/objects?kind=JobFlow")
	l.until("set", has("first"))
	l.until("synced", nil)
	api.stop()
	l.until("source", has(`"state":"unreachable"`))
	api.deny(func(_, _, _ string) bool { return true })
	api.start()
	l.until("gone", nil)
	l.until("source", has(`"state":"forbidden"`))
	api.deny(func(_, _, _ string) bool { return false })
	l.until("set", has("first"))
	l.until("source", has(`"state":"live"`))
}

// What the viewer may not read for a while isn't said to be missing. Once he may, what has been deleted meanwhile is.
func TestAHiddenObjectIsNotMissing(t *testing.T) {
	for path, event := range map[string]string{"flow?": "flow", "detail?kind=JobFlow&": "object"} {
		t.Run(event, func(t *testing.T) {
			flow := flowNamed("a", "first")
			api := newAPI(t, flow)
			s := newSite(t, api)
			untilForbidden := func(l *listener) {
				t.Helper()
				l.read(func(e sent) bool {
					require.NotEqual(t, "problem", e.event, e.data)
					return e.event == "source" && strings.Contains(e.data, `"kind":"JobFlow","namespace":"a","state":"forbidden","message":`)
				})
			}
			restart := func() {
				t.Helper()
				api.stop()
				api.deny(func(_, _, _ string) bool { return true })
				api.start()
			}
			open := s.listen("/api/stream/" + path + "namespace=a&name=first")
			open.until("synced", nil)
			restart()
			untilForbidden(open)
			require.NoError(t, api.Client().Get(t.Context(), client.ObjectKeyFromObject(flow), flow))
			flow.Labels = map[string]string{"changed": "meanwhile"}
			require.NoError(t, api.Client().Update(t.Context(), flow))
			api.deny(nil)
			open.until(event, has("meanwhile"))

			restart()
			untilForbidden(open)
			cold := s.listen("/api/stream/" + path + "namespace=a&name=first")
			untilForbidden(cold)
			require.NoError(t, api.Client().Delete(t.Context(), flow))
			api.deny(nil)
			assert.Contains(t, open.until("problem", nil), "there is no JobFlow first")
			assert.Contains(t, cold.until("problem", nil), "there is no JobFlow first")
		})
	}
}

func TestAnUnknownKindIsRefused(t *testing.T) {
	s := newSite(t, newAPI(t))
	answer := s.get("/api/stream/objects?kind=Secret")
	assert.Equal(t, http.StatusBadRequest, answer.StatusCode)
	assert.Contains(t, bodyOf[failure](t, answer).Error, `got "Secret"`)
}

// Other people's text can't end the JSON that it is in, nor become markup.
func TestMarkupIsText(t *testing.T) {
	flow := flowNamed("a", "x")
	flow.Labels = map[string]string{"note": "x"}
	const message = "<img src=x onerror=alert(1)>\n\nevent: set\ndata: []"
	flow.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "InvalidSpec", Message: message,
		LastTransitionTime: metav1.Now()}}
	api := newAPI(t, client.Object(flow))
	s := newSite(t, api)
	set := s.listen("/api/stream/objects?kind=JobFlow").until("set", nil)
	assert.NotContains(t, set, "<")
	assert.Equal(t, message, decoded[[]row](t, set)[0].Message)
}
