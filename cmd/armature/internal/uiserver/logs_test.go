package uiserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// One tenant's pod prints what it likes: no event is large, and few lines wait for a slow browser.
func TestALogOfLongLinesComesInSmallEvents(t *testing.T) {
	const lines = linesAhead + 8
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
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
