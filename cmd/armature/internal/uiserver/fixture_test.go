package uiserver

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// apiServer is the simulated API server with what the page needs beside: authentication, authorization, and outages.
type apiServer struct {
	*buildertest.Server

	mu      sync.Mutex
	denied  func(verb, kind, namespace string) bool
	down    bool
	revoked bool
	watches []watch.Interface
	stops   int
	asked   map[string]int // requests by verb and kind
}

// crds are read once for all tests.
var crds = buildertest.WithCRDs("../../../../config/crd")

func newAPI(t *testing.T, objects ...client.Object) *apiServer {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	return &apiServer{
		Server: buildertest.NewServer(scheme, crds, buildertest.WithObjects(objects...)),
		asked:  map[string]int{},
	}
}

func (a *apiServer) deny(denied func(verb, kind, namespace string) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denied = denied
}

// stop stops the API server, and ends all watches; start starts it again.
func (a *apiServer) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = true
	a.stops++
	for _, w := range a.watches {
		w.Stop()
	}
	a.watches = nil
}

// revoke lets the API server refuse all tokens, and ends all watches.
func (a *apiServer) revoke() {
	a.stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down, a.revoked = false, true
}

func (a *apiServer) start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = false
}

func (a *apiServer) requests(what string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[what]
}

// check decides on a request.
func (a *apiServer) check(verb string, obj runtime.Object, c client.Client, namespace string) error {
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return err
	}
	kind := strings.TrimSuffix(gvk.Kind, "List")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked[verb+" "+kind]++
	if a.down {
		return &net.OpError{Op: "dial", Err: io.ErrUnexpectedEOF}
	}
	if a.revoked {
		return apierrors.NewUnauthorized("the token has expired")
	}
	if a.denied != nil && a.denied(verb, kind, namespace) {
		return apierrors.NewForbidden(schema.GroupResource{Group: gvk.Group, Resource: kind}, "", io.ErrNoProgress)
	}
	return nil
}

// cluster is a connection to it.
func (a *apiServer) cluster() *connect.Cluster {
	c := interceptor.NewClient(a.Client(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			switch review := obj.(type) {
			case *authenticationv1.SelfSubjectReview:
				review.Status.UserInfo.Username = "alice"
				return a.check("create", obj, c, "")
			case *authorizationv1.SelfSubjectAccessReview:
				of := review.Spec.ResourceAttributes
				a.mu.Lock()
				defer a.mu.Unlock()
				a.asked["review"]++
				kinds, err := c.RESTMapper().KindsFor(schema.GroupVersionResource{Group: of.Group, Resource: of.Resource})
				i := slices.IndexFunc(kinds, func(k schema.GroupVersionKind) bool { return k.Group == of.Group })
				if i < 0 {
					return fmt.Errorf("no kind of %s: %w", of.Resource, err)
				}
				review.Status.Allowed = a.denied == nil || !a.denied(of.Verb, kinds[i].Kind, of.Namespace)
				return nil
			}
			if err := a.check("create", obj, c, obj.GetNamespace()); err != nil {
				return err
			}
			return c.Create(ctx, obj, opts...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if err := a.check("get", obj, c, key.Namespace); err != nil {
				return err
			}
			return c.Get(ctx, key, obj, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := a.check("patch", obj, c, obj.GetNamespace()); err != nil {
				return err
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			if err := a.check("delete", obj, c, obj.GetNamespace()); err != nil {
				return err
			}
			return c.Delete(ctx, obj, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			o := (&client.ListOptions{}).ApplyOptions(opts)
			if err := a.check("list", list, c, o.Namespace); err != nil {
				return err
			}
			o.FieldSelector = nil // the simulated server has none: feeds check what they get
			return c.List(ctx, list, o)
		},
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
			o := (&client.ListOptions{}).ApplyOptions(opts)
			a.mu.Lock()
			stops := a.stops
			a.mu.Unlock()
			if err := a.check("watch", list, c, o.Namespace); err != nil {
				return nil, err
			}
			o.FieldSelector = nil
			w, err := c.Watch(ctx, list, o)
			if err != nil {
				return nil, err
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.stops != stops { // in the meantime
				w.Stop()
			}
			a.watches = append(a.watches, w)
			return w, nil
		},
	})
	return &connect.Cluster{Client: c, Namespace: "default"}
}

// site is a running page on loopback, and a browser that has logged in.
type site struct {
	t      *testing.T
	url    string
	login  *Loopback
	cookie *http.Cookie
	bearer string
	client *http.Client
}

func newSite(t *testing.T, api *apiServer) *site {
	t.Helper()
	return newSiteWith(t, api, defaultPace)
}

func newSiteWith(t *testing.T, api *apiServer, pace reminderPace) *site {
	t.Helper()
	v, err := NewViewer(t.Context(), api.cluster())
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(nil)
	login, err := NewLoopback(v, server.Listener.Addr(), "kind-test")
	require.NoError(t, err)
	handler, err := New(Options{Assets: page(), Version: "v1.2.3", Login: login, pace: pace})
	require.NoError(t, err)
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	s := &site{t: t, url: server.URL, login: login}
	answer := s.post("/api/session", map[string]string{"token": login.token})
	require.Equal(t, http.StatusOK, answer.StatusCode)
	s.cookie = answer.Cookies()[0]
	return s
}

func page() fstest.MapFS {
	return fstest.MapFS{
		"index.html":          {Data: []byte("<!doctype html><title>Armature</title>")},
		"assets/app-5f3a.js":  {Data: bytes.Repeat([]byte("let a = 1;"), 100)},
		"assets/app-5f3a.css": {Data: []byte("a{}")},
	}
}

func (s *site) do(r *http.Request) *http.Response {
	s.t.Helper()
	if s.cookie != nil {
		r.AddCookie(s.cookie)
	}
	if s.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+s.bearer)
	}
	answer, err := cmp.Or(s.client, http.DefaultClient).Do(r)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func (s *site) request(method, path string, body io.Reader) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	require.NoError(s.t, err)
	return r
}

func (s *site) get(path string) *http.Response {
	s.t.Helper()
	return s.do(s.request(http.MethodGet, path, nil))
}

// post posts as the page does.
func (s *site) post(path string, body any) *http.Response {
	s.t.Helper()
	data, err := json.Marshal(body)
	require.NoError(s.t, err)
	r := s.request(http.MethodPost, path, bytes.NewReader(data))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", s.url)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return s.do(r)
}

// bodyOf reads a JSON body.
func bodyOf[T any](t *testing.T, answer *http.Response) T {
	t.Helper()
	var body T
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&body))
	return body
}

// sent is an event of a stream.
type sent struct {
	event, data string
}

// listener reads a stream.
type listener struct {
	t      *testing.T
	events chan sent
}

func (s *site) listen(path string) *listener {
	s.t.Helper()
	answer := s.get(path)
	require.Equal(s.t, http.StatusOK, answer.StatusCode)
	require.Equal(s.t, "text/event-stream", answer.Header.Get("Content-Type"))
	l := &listener{t: s.t, events: make(chan sent, 10_000)}
	go func() {
		defer close(l.events)
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 64<<20)
		var e sent
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.event = value
			case "data":
				e.data = value
			case "":
				if e.event != "" {
					l.events <- e
				}
				e = sent{}
			}
		}
	}()
	return l
}

// until waits for an event that a function wants, and returns it.
func (l *listener) until(event string, wanted func(data string) bool) string {
	l.t.Helper()
	found := ""
	l.read(func(e sent) bool {
		found = e.data
		return e.event == event && (wanted == nil || wanted(e.data))
	})
	return found
}

// read reads events until a function has had enough.
func (l *listener) read(enough func(sent) bool) {
	l.t.Helper()
	deadline := time.After(time.Minute)
	var seen []string
	for {
		select {
		case e, ok := <-l.events:
			if !ok {
				l.t.Fatalf("the stream has ended; seen: %q", seen)
			}
			if enough(e) {
				return
			}
			seen = append(seen, fmt.Sprintf("%s: %.1000s", e.event, e.data))
		case <-deadline:
			l.t.Fatalf("what is awaited hasn't come; seen: %q", seen)
		}
	}
}

// upTo returns what comes before an event.
func (l *listener) upTo(event string) []sent {
	l.t.Helper()
	var before []sent
	l.read(func(e sent) bool {
		before = append(before, e)
		return e.event == event
	})
	return before
}

// has wants a text in the data.
func has(text string) func(string) bool {
	return func(data string) bool { return strings.Contains(data, text) }
}

func flowNamed(namespace, name string, nodes ...v1alpha1.Flow) *v1alpha1.JobFlow {
	f := &v1alpha1.JobFlow{}
	f.Namespace, f.Name = namespace, name
	f.Spec.Flows = nodes
	if len(nodes) == 0 {
		f.Spec.Flows = []v1alpha1.Flow{{Name: "a", JobTemplateRef: "t"}}
	}
	return f
}

func decoded[T any](t *testing.T, data string) T {
	t.Helper()
	var value T
	require.NoError(t, json.Unmarshal([]byte(data), &value))
	return value
}
