package record_test

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/view"
	"github.com/armature-dev/armature/builder/record"
)

// logging is a manager with a log.
type logging struct {
	manager.Manager
	log   []string
	added []manager.Runnable
}

func (l *logging) GetLogger() logr.Logger {
	return funcr.New(func(_, args string) { l.log = append(l.log, args) }, funcr.Options{})
}

func (l *logging) Add(r manager.Runnable) error {
	l.added = append(l.added, r)
	return nil
}

// What can't be recorded is logged, and no pass fails of it.
func TestPassesThatCannotBeRecordedAreLogged(t *testing.T) {
	unknown := aFlow() // the scheme doesn't have its kind
	only := func(obj client.Object) iter.Seq[client.Object] { return slices.Values([]client.Object{obj}) }
	watching := view.Of(only(theOwner()))
	watching.Watch(only(unknown))
	child := flight.Child{Child: apply.Child{Object: unknown}}
	hashed := flight.Child{Child: apply.Child{Object: theOwner(), Options: &apply.Options{ConfigOf: []any{unknown}}}}
	for name, p := range map[string]flight.Pass{
		"owner":          {Owner: unknown},
		"child":          {Observed: view.Of(only(unknown))},
		"watched object": {Observed: watching},
		"desired child":  {Plan: &flight.Plan{Children: []flight.Child{child}}},
		"argument":       {Plan: &flight.Plan{Children: []flight.Child{hashed}}},
		"edited object":  {Plan: &flight.Plan{Edits: []flight.Edit{{Before: theOwner(), After: unknown}}}},
		"status":         {Plan: &flight.Plan{Status: unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			if p.Owner == nil {
				p.Owner = theOwner()
			}
			p.Operator, p.Scheme = "web", scheme.Scheme
			mgr, recorder := &logging{}, record.NewRecorder(1<<20)
			around := recorder.Around(mgr)
			assert.Equal(t, manager.Manager(mgr), around.(interface{ Unwrap() manager.Manager }).Unwrap())
			around.(flight.Source).FlightRecorder().RecordPass(p)
			require.Len(t, mgr.log, 1)
			assert.Contains(t, mgr.log[0], `"a pass can't be recorded"`)
			assert.Contains(t, mgr.log[0], `"operator"="web"`)
			list, err := recorder.Passes(record.Owner{})
			require.NoError(t, err)
			assert.Empty(t, list.Items)
		})
	}
}

// Names of kinds that the scheme doesn't have are those of Go, and a value without JSON is known by its type.
func TestWhatHasNoKindOrNoJSONIsRecordedByItsType(t *testing.T) {
	unknown := aFlow()
	arguments := []any{func() {}, map[string]int{"a": 1}}
	recorder := record.NewRecorder(1 << 20)
	recorder.RecordPass(flight.Pass{
		Operator: "web", Scheme: scheme.Scheme, Owner: theOwner(), Observed: view.Observed{External: func() {}},
		Plan: &flight.Plan{
			Prune: []client.Object{unknown}, Delete: []client.Object{unknown},
			Children: []flight.Child{{Child: apply.Child{Object: theOwner(), Options: &apply.Options{ConfigOf: arguments}}}},
		},
		Requests: []flight.Request{{Verb: "list", List: &v1alpha1.JobFlowList{}}, {Verb: "list", List: &corev1.PodList{}}},
	})
	list, err := recorder.Passes(record.Owner{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	p := list.Items[0]
	assert.Equal(t, &record.External{GoType: "func()", Incomplete: true}, p.View.External)
	assert.Equal(t, []string{"*v1alpha1.JobFlow"}, p.Plan.Prune)
	assert.Equal(t, []string{"*v1alpha1.JobFlow default/web"}, p.Plan.Delete)
	assert.Equal(t, []record.Request{{Verb: "list", Object: "*v1alpha1.JobFlowList"}, {Verb: "list", Object: "PodList"}}, p.Requests)
	require.Len(t, p.Plan.Children[0].HashFrom, 2)
	assert.NotEqual(t, p.Plan.Children[0].HashFrom[0], p.Plan.Children[0].HashFrom[1])
}

// A record that doesn't fit the program is an error that names the object.
func TestReplaysThatFail(t *testing.T) {
	h := run(t, configured(nil), 1<<20, theOwner(), thePassword("hunter2"))
	require.NoError(t, h.pass())
	object := func(kind, name string, more ...any) record.Object {
		o := record.Object{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"namespace": "default", "name": name}}
		for i := 0; i < len(more); i += 2 {
			o[more[i].(string)] = more[i+1]
		}
		return o
	}
	for message, change := range map[string]func(*record.Pass){
		"the pass over ConfigMap default/web failed before its plan: no answer": func(p *record.Pass) { p.Plan, p.Error = nil, "no answer" },
		`owner: Near default/web: no kind "Near" is registered`:                 func(p *record.Pass) { p.Owner = object("Near", "web") },
		"the owner Pod default/web is a *v1.Pod, and the operator's owners are *v1.ConfigMap": func(p *record.Pass) {
			p.Owner = object("Pod", "web")
		},
		"view: PodList default/all: *v1.PodList is not an object": func(p *record.Pass) {
			p.View.Owned = []record.Object{object("PodList", "all")}
		},
		"view: ConfigMap default/odd: json: cannot unmarshal": func(p *record.Pass) {
			p.View.Watched = []record.Object{object("ConfigMap", "odd", "data", int64(1))}
		},
	} {
		pass := h.passes()[0]
		change(&pass)
		_, err := record.Replay(configured(nil), scheme.Scheme, &pass)
		assert.ErrorContains(t, err, message)
	}
}

func TestRecordsThatCannotBeRead(t *testing.T) {
	_, err := record.Read(iotest.ErrReader(errors.New("no disk")))
	require.EqualError(t, err, "no disk")
}

// A test is written for a pass with a plan or an invalid one, and with expressions of Go.
func TestGoTestsOfPasses(t *testing.T) {
	var out bytes.Buffer
	failed := &record.Pass{Owner: record.Object{"kind": "ConfigMap", "apiVersion": "v1"}, Error: "no answer"}
	err := record.GoTest{Pass: failed}.Write(&out)
	require.ErrorContains(t, err, "failed before its plan: no answer")

	h := run(t, configured(nil), 1<<20, theOwner())
	require.NoError(t, h.pass())
	pass := &h.passes()[0]
	err = record.GoTest{Pass: pass, Operator: "no Go", Scheme: "x"}.Write(&out)
	require.ErrorContains(t, err, "the expressions of the operator and the scheme must be Go")
	require.Empty(t, out.String())

	written := func() string {
		out.Reset()
		require.NoError(t, record.GoTest{
			Pass: pass, Imports: []string{"example.com/web", "k8s example.com/scheme"}, Operator: "web.Operator(nil)", Scheme: "k8s.Scheme()",
		}.Write(&out))
		return out.String()
	}
	code := written()
	assert.True(t, strings.HasPrefix(code, "package incident\n"))
	assert.Contains(t, code, "\tk8s \"example.com/scheme\"\n\t\"example.com/web\"\n")
	assert.Contains(t, code, "func TestConfigMapDefaultWeb(t *testing.T) {")
	assert.Contains(t, code, "record.Compare(scheme, pass, view, plan, nil)")

	pass.Plan, pass.PlanError = nil, "it panicked:\n`oh`"
	code = written()
	assert.Contains(t, code, "// it panicked:\n// `oh`\n")
	assert.NotContains(t, code, "record.Compare")

	pass.Owner["data"], pass.PlanError = map[string]any{"a": "\ufeff"}, "\ufeff and \x00"
	code = written()
	assert.Contains(t, code, `"a": "\ufeff"`, "Go source has no byte order mark")
	assert.Contains(t, code, `// \ufeff and \x00`)
}

// Differences are shown with both values, as far as both are there.
func TestDifferencesAsText(t *testing.T) {
	replayed := record.Replayed{Differences: []record.Difference{
		{Path: "status.state", Recorded: "<old>", Replayed: map[string]any{"a": int64(1)}},
		{Path: "requeueAfter", Recorded: int64(5)},
		{Path: "report", Replayed: true},
		{Path: "odd", Replayed: make(chan int)},
	}}
	var out strings.Builder
	require.NoError(t, replayed.WriteText(&out))
	text, odd, _ := strings.Cut(out.String(), "  odd\n")
	assert.Equal(t, `  status.state
-   "<old>"
+   {"a":1}
  requeueAfter
-   5
  report
+   true
`, text)
	assert.Contains(t, odd, "+   0x", "a value without JSON is shown as Go does")
}

// Passes without a plan and with all that a pass can do.
func TestStepsOfSeveralPasses(t *testing.T) {
	owner := record.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": "web"}}
	at := record.View{Time: time.Unix(0, 0)}
	list := record.List{Items: []record.Pass{
		{Operator: "web", Owner: owner, View: at, PlanError: "it panicked", Error: "the plan is invalid"},
		{
			Operator: "web", Owner: owner, View: record.View{Time: at.Time, External: &record.External{GoType: "int"}},
			Plan: &record.Plan{PruneAll: true, DeleteOwner: true},
			Result: record.Result{Unchanged: 2, Pending: []record.Pending{{
				Object: "Pod default/a", Reason: "ChildrenNotReady", Message: "is not ready",
			}}},
		},
	}}
	var out strings.Builder
	require.NoError(t, list.WriteText(&out))
	assert.Equal(t, `pass 1 of 2: ConfigMap default/web at 1970-01-01T00:00:00Z, operator web of an unknown program
  view
  plan
    invalid: it panicked
  decision
    failed: the plan is invalid
pass 2 of 2: ConfigMap default/web at 1970-01-01T00:00:00Z, operator web of an unknown program
  view
    external int
  plan
    prune all kinds
    delete the owner
  decision
    2 unchanged
    waits for Pod default/a: ChildrenNotReady is not ready
`, out.String())
}

// A manager serves the passes at an address.
func TestListen(t *testing.T) {
	mgr, recorder := &logging{}, record.NewRecorder(1<<20)
	require.NoError(t, recorder.Listen(mgr, "127.0.0.1:0"))
	require.Len(t, mgr.added, 1)
	server := mgr.added[0].(*manager.Server)
	ended := make(chan error, 1)
	go func() { ended <- server.Server.Serve(server.Listener) }()
	response, err := http.Get("http://" + server.Listener.Addr().String() + record.Path)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	list, err := record.Read(bytes.NewReader(body))
	require.NoError(t, err)
	assert.Empty(t, list.Items)
	for host, status := range map[string]int{
		"localhost:1234": http.StatusOK, "LOCALHOST": http.StatusOK, "[::1]:8082": http.StatusOK, "10.0.0.1": http.StatusOK,
		"evil.example:8082": http.StatusMisdirectedRequest, "evil.example": http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example": http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest,
	} {
		assert.Equal(t, status, answerFor(server.Server.Handler, host), host)
	}
	assert.ErrorContains(t, recorder.Listen(mgr, server.Listener.Addr().String()), "serve the recorded passes: listen tcp")
	require.NoError(t, server.Server.Close())
	require.ErrorIs(t, <-ended, http.ErrServerClosed)
}

// answerFor returns the status of the answer to a request by a name of the server.
func answerFor(handler http.Handler, host string) int {
	request := httptest.NewRequest(http.MethodGet, record.Path, nil)
	request.Host = host
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code
}
