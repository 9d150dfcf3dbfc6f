package uiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestLogsSideBySide(t *testing.T) {
	release := make(chan struct{})
	letOn := sync.OnceFunc(func() { close(release) })
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/namespaces/a/pods/x/log":
			assert.Equal(t, "container=main&follow=true&tailLines=7&timestamps=true", r.URL.RawQuery)
			fmt.Fprint(w, "2026-01-02T03:04:05.6Z <script>alert(1)</script>\n")
			assert.NoError(t, http.NewResponseController(w).Flush())
			<-release
			fmt.Fprint(w, "2026-01-02T03:04:06Z "+strings.Repeat("y", maxLine)+"\nno time \xff\n")
		case "/api/v1/namespaces/a/pods/y/log":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no right","reason":"Forbidden","code":403}`)
		case "/api/v1/namespaces/a/pods":
			podIn(t, w, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}})
		default:
			t.Error("unexpected path", r.URL.Path)
		}
	}))
	t.Cleanup(api.Close)
	t.Cleanup(letOn)
	s := newSite(t, newAPI(t))
	var err error
	s.login.one.pods, err = kubernetes.NewForConfig(&rest.Config{Host: api.URL})
	require.NoError(t, err)
	l := s.listen("/api/stream/logs?namespace=a&pod=x/main&pod=y/main&tail=7")
	seen := map[string]string{} // in any order
	l.read(func(e sent) bool {
		seen[e.event] = e.data
		return seen["lines"] != "" && seen["end"] != ""
	})
	assert.NotContains(t, seen["lines"], "<")
	assert.Equal(t, []line{{P: 0, T: "2026-01-02T03:04:05.6Z", S: "<script>alert(1)</script>"}}, decoded[[]line](t, seen["lines"]))
	assert.Equal(t, logEnd{P: 1, Message: "no right"}, decoded[logEnd](t, seen["end"]))
	letOn()
	rest := decoded[[]line](t, l.until("lines", nil))
	if len(rest) == 1 {
		rest = append(rest, decoded[[]line](t, l.until("lines", nil))...)
	}
	assert.LessOrEqual(t, len(rest[0].S), maxLine+len(" …"))
	assert.True(t, strings.HasSuffix(rest[0].S, "y …"))
	assert.Equal(t, line{S: "no time \uFFFD"}, rest[1])
	assert.Equal(t, logEnd{P: 0}, decoded[logEnd](t, l.until("end", nil)))
}

// podIn answers with the pod x, whose container main is in a state.
func podIn(t *testing.T, w http.ResponseWriter, state corev1.ContainerState) {
	t.Helper()
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: state}}
	w.Header().Set("Content-Type", "application/json")
	assert.NoError(t, json.NewEncoder(w).Encode(corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{pod},
	}))
}

// A kubelet or a proxy ends the stream of a silent container, which isn't the end of its log.
func TestALogGoesOnAfterAStreamEnds(t *testing.T) {
	for _, pod := range []string{"x/main", "x"} {
		t.Run(pod, func(t *testing.T) { logGoesOn(t, pod) })
	}
}

func logGoesOn(t *testing.T, name string) {
	t.Helper()
	var mu sync.Mutex
	var opened []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch query := r.URL.Query(); r.URL.Path {
		case "/api/v1/namespaces/a/pods/x/log":
			opened = append(opened, query.Get("tailLines")+" "+query.Get("sinceTime"))
			fmt.Fprint(w, "message of the kubelet\n2026-01-02T03:04:05.1Z one\n")
			if len(opened) > 1 {
				fmt.Fprint(w, "2026-01-02T03:04:05.2Z two\n")
			}
		case "/api/v1/namespaces/a/pods":
			assert.Equal(t, "metadata.name=x", query.Get("fieldSelector"))
			state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
			if len(opened) > 1 {
				state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
			}
			podIn(t, w, state)
		}
	}))
	t.Cleanup(api.Close)
	s := newSite(t, newAPI(t))
	var err error
	s.login.one.pods, err = kubernetes.NewForConfig(&rest.Config{Host: api.URL})
	require.NoError(t, err)
	var lines []string
	s.listen("/api/stream/logs?namespace=a&pod=" + name + "&tail=7").read(func(e sent) bool {
		if e.event == "lines" {
			for _, l := range decoded[[]line](t, e.data) {
				lines = append(lines, l.S)
			}
		}
		return e.event == "end"
	})
	assert.Equal(t, []string{"message of the kubelet", "one", "two"}, lines)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []string{"7 ", " 2026-01-02T03:04:05Z"}, opened)
}

// Who may read a log may not always list the pod. The end of a stream is then not known to be that of the log.
func TestTheEndOfALogIsUnknownWithoutItsPod(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/log") {
			fmt.Fprint(w, "2026-01-02T03:04:05.1Z one\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no right","reason":"Forbidden","code":403}`)
	}))
	t.Cleanup(api.Close)
	s := newSite(t, newAPI(t))
	var err error
	s.login.one.pods, err = kubernetes.NewForConfig(&rest.Config{Host: api.URL})
	require.NoError(t, err)
	end := decoded[logEnd](t, s.listen("/api/stream/logs?namespace=a&pod=x/main").until("end", nil))
	assert.Equal(t, "the stream of the log has ended, and whether the container runs is unknown: no right", end.Message)
}

// One tenant's pod prints what it likes: no event is large, and few lines wait for a slow browser.
func TestALogOfLongLinesComesInSmallEvents(t *testing.T) {
	const lines = linesAhead + 8
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/log") {
			podIn(t, w, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}})
			return
		}
		for range lines {
			fmt.Fprintln(w, strings.Repeat("<", maxLine-1))
		}
	}))
	t.Cleanup(api.Close)
	s := newSite(t, newAPI(t))
	var err error
	s.login.one.pods, err = kubernetes.NewForConfig(&rest.Config{Host: api.URL})
	require.NoError(t, err)
	l := s.listen("/api/stream/logs?namespace=a&pod=x/main")
	n, largest := 0, 0
	l.read(func(e sent) bool {
		n, largest = n+strings.Count(e.data, `{"p":0,"s":`), max(largest, len(e.data))
		return e.event == "end"
	})
	assert.Equal(t, lines, n)
	assert.LessOrEqual(t, largest, 1<<20)
}

func TestLogQueries(t *testing.T) {
	s := newSite(t, newAPI(t))
	for _, query := range []string{
		"", "namespace=a", "pod=x/main", "namespace=a&pod=", "namespace=a&pod=../../secrets", "namespace=a/b&pod=x/main", "namespace=a&pod=x/m&tail=-1",
		"namespace=a&pod=x/m&tail=99999", "namespace=a" + strings.Repeat("&pod=x/main", maxLogs+1),
	} {
		assert.Equal(t, http.StatusBadRequest, s.get("/api/stream/logs?"+query).StatusCode, query)
	}
}
