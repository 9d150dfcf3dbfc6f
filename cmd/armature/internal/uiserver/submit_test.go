package uiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestSubmit(t *testing.T) {
	api := newAPI(t)
	s := newSite(t, api)
	example := exampleOf(kind{GroupVersionKind: v1alpha1.GroupVersion.WithKind("JobFlow")})
	answer := s.post("/api/submit?dryRun=true", submission{YAML: example})
	require.Equal(t, http.StatusOK, answer.StatusCode)
	assert.Equal(t, "default", bodyOf[submitted](t, answer).Object["metadata"].(map[string]any)["namespace"])
	flow := &v1alpha1.JobFlow{}
	key := client.ObjectKey{Namespace: "default", Name: "example"}
	require.Error(t, api.Client().Get(t.Context(), key, flow), "a dry run creates nothing")

	answer = s.post("/api/submit", submission{Object: map[string]any{
		"apiVersion": "api.practice.com/v1alpha1", "kind": "JobFlow", "metadata": map[string]any{"name": "example"},
		"spec": map[string]any{"flows": []any{map[string]any{"name": "a", "jobTemplateRef": "t"}}},
	}})
	require.Equal(t, http.StatusCreated, answer.StatusCode)
	require.NoError(t, api.Client().Get(t.Context(), key, flow))
	assert.Equal(t, http.StatusConflict, s.post("/api/submit", submission{YAML: example}).StatusCode, "it exists")
}

// What the operator would refuse is said field by field, before anything is created.
func TestSubmitNamesInvalidFields(t *testing.T) {
	s := newSite(t, newAPI(t))
	answer := s.post("/api/submit?dryRun=true", submission{YAML: `{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {name: f},
  spec: {flows: [{name: a, jobTemplateRef: t, dependencies: [b]}, {name: c, jobTemplateRef: t, dependencies: [none]}]}}`})
	assert.Equal(t, http.StatusUnprocessableEntity, answer.StatusCode)
	fields := bodyOf[failure](t, answer).Fields
	require.Len(t, fields, 2)
	assert.Equal(t, "spec.flows[0].dependencies[0]", fields[0].Field)
	assert.Contains(t, fields[0].Message, `"b"`)
	for text, code := range map[string]int{
		"": http.StatusBadRequest, "a: [": http.StatusUnprocessableEntity, "{apiVersion: v1, kind: Secret, metadata: {name: a}}": http.StatusBadRequest,
		"{apiVersion: api.practice.com/v2, kind: JobFlow, metadata: {name: a}}": http.StatusBadRequest,
	} {
		assert.Equal(t, code, s.post("/api/submit", submission{YAML: text}).StatusCode, text)
	}
}

// One request must not take all memory: an object of 60 KB may be as deep as JSON can be.
func TestADeepObjectTakesLittleMemory(t *testing.T) {
	object := map[string]any{}
	for range 9000 {
		object = map[string]any{"a": object}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := document(submission{Object: object})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(50<<20))
}

func TestABodyIsBounded(t *testing.T) {
	s := newSite(t, newAPI(t))
	for path, body := range map[string]any{
		"/api/submit":  submission{YAML: strings.Repeat(" ", maxObjectBody)},
		"/api/actions": action{Verb: strings.Repeat(" ", maxBody)},
		"/api/session": map[string]any{"token": strings.Repeat(" ", maxBody)},
	} {
		answer := s.post(path, body)
		assert.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode, path)
		assert.Regexp(t, "the body has more than [0-9]+ bytes", bodyOf[failure](t, answer).Error)
	}
}

// A user has a part of the submissions only, whatever the number of his tokens and ServiceAccounts. A viewer whose user isn't known counts
// as one.
func TestSubmissionsAreLimited(t *testing.T) {
	var ends []func()
	begin := func(v *Viewer) error {
		end, err := submissions.begin(v)
		if err == nil {
			ends = append(ends, end)
		}
		return err
	}
	alice, again := &Viewer{user: "system:serviceaccount:a:alice"}, &Viewer{user: "system:serviceaccount:a:again"}
	unknown, other := &Viewer{}, &Viewer{}
	for range maxOfUser / 2 {
		require.NoError(t, begin(alice))
		require.NoError(t, begin(again))
	}
	require.ErrorContains(t, begin(again), "you submit 4 objects at a time already")
	for range maxOfUser {
		require.NoError(t, begin(unknown))
	}
	code, f := failureOf(begin(other))
	assert.Equal(t, http.StatusTooManyRequests, code)
	assert.Equal(t, "8 objects are being submitted: try again in a moment", f.Error)
	for _, end := range ends {
		end()
	}
	assert.Zero(t, submissions.all)
	assert.Empty(t, submissions.of)
}

// stalled is a body of which only the first bytes arrive.
type stalled struct {
	io.Reader
	arrived chan<- struct{}
	left    <-chan struct{}
}

func (s stalled) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == nil {
		return n, nil
	}
	s.arrived <- struct{}{}
	<-s.left
	return 0, io.ErrUnexpectedEOF
}

// However many clients send slowly, an object of someone else is created; of large ones a user sends a part only.
func TestASlowBodyHoldsNoTurn(t *testing.T) {
	v, err := NewViewer(t.Context(), newAPI(t).cluster())
	require.NoError(t, err)
	submit := func(v *Viewer, body io.Reader) error {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/submit?dryRun=true", body)
		_, _, err := (&server{}).create(httptest.NewRecorder(), r, v)
		return err
	}
	small := exampleOf(kind{GroupVersionKind: v1alpha1.GroupVersion.WithKind("JobFlow")})
	document := func(text string) io.Reader {
		body, err := json.Marshal(submission{YAML: text})
		require.NoError(t, err)
		return bytes.NewReader(body)
	}
	large := small + strings.Repeat("#", maxBody)
	arrived, left := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	stall := func(v *Viewer, begin string) {
		all.Go(func() { assert.Error(t, submit(v, stalled{strings.NewReader(begin), arrived, left})) })
		<-arrived
	}
	for range maxSubmissions {
		stall(&Viewer{}, "{")
	}
	require.NoError(t, submit(v, document(small)))
	for range maxLargeOfUser {
		require.NoError(t, submit(v, document(large)))
		stall(v, strings.Repeat(" ", maxBody+1))
	}
	require.NoError(t, submit(v, document(small)))
	require.ErrorContains(t, submit(v, document(large)), "you submit 2 objects of more than 64 KiB at a time already")
	close(left)
	all.Wait()
	require.NoError(t, submit(v, document(large)))
}

// While others are read, an object waits for its turn, as long as its viewer does.
func TestObjectsAreReadInTurn(t *testing.T) {
	for range cap(reading) {
		reading <- struct{}{}
	}
	read := func(ctx context.Context) error {
		_, err := readDocument(ctx, []byte(`{"yaml": "kind: A"}`))
		return err
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	require.ErrorIs(t, read(left), context.Canceled)
	done := make(chan error)
	go func() { done <- read(t.Context()) }()
	for range cap(reading) {
		<-reading
	}
	require.NoError(t, <-done)
	assert.Empty(t, reading)
}

func TestAnObjectMayHaveAnyText(t *testing.T) {
	text := "<\x7f\u0085\u009f\ufeff\uffff\u2028\U0001f600\n\"--- a: b"
	doc, err := document(submission{Object: map[string]any{"text": text}})
	require.NoError(t, err)
	assert.Equal(t, text, doc.Object.Object["text"])
}

// Each example of the form is valid.
func TestExamples(t *testing.T) {
	for _, gk := range own {
		text := exampleOf(kind{GroupVersionKind: gk.WithVersion("v1alpha1")})
		doc, err := document(submission{YAML: text})
		require.NoError(t, err, gk.Kind)
		found, err := problems(doc)
		require.NoError(t, err, gk.Kind)
		assert.Empty(t, found, gk.Kind)
		assert.NotContains(t, text, "spec: {}", gk.Kind)
	}
	assert.Contains(t, exampleOf(kind{GroupVersionKind: schema.GroupVersionKind{Group: "e.com", Version: "v1", Kind: "KV"}}), "apiVersion: e.com/v1")
}

func TestSchemaHasNoReferences(t *testing.T) {
	text := `{"components": {"schemas": {
		"com.e.KV": {"properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/Spec"}], "default": {}}},
			"x-kubernetes-group-version-kind": [{"group": "e.com", "version": "v1", "kind": "KV"}]},
		"Spec": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/components/schemas/Leaf"}}}},
		"Leaf": {"type": "string"}}}}`
	k := kind{GroupVersionKind: schema.GroupVersionKind{Group: "e.com", Version: "v1", Kind: "KV"}}
	spec, err := specSchema([]byte(text), k)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"type": "object", "default": map[string]any{},
		"properties": map[string]any{"children": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}},
	}, spec)
	k.Version = "v2"
	_, err = specSchema([]byte(text), k)
	assert.ErrorContains(t, err, "no schema of KV")
}
