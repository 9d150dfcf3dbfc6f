package uiserver

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNobodyWithoutTheLinkIsLetIn(t *testing.T) {
	s := newSite(t, newAPI(t))
	s.cookie = nil
	for _, path := range []string{"/api/session", "/api/access", "/api/stream/objects"} {
		answer := s.get(path)
		assert.Equal(t, http.StatusUnauthorized, answer.StatusCode, path)
		assert.Equal(t, "link", bodyOf[failure](t, answer).Login, path)
	}
	assert.Equal(t, http.StatusUnauthorized, s.post("/api/session", map[string]string{"token": "guessed"}).StatusCode)
	s.cookie = &http.Cookie{Name: s.login.cookie(), Value: "guessed"}
	assert.Equal(t, http.StatusUnauthorized, s.get("/api/session").StatusCode)
}

func TestSession(t *testing.T) {
	s := newSite(t, newAPI(t))
	assert.True(t, s.cookie.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, s.cookie.SameSite)
	info := bodyOf[sessionInfo](t, s.get("/api/session"))
	assert.Equal(t, sessionInfo{
		place: place{Mode: "loopback", Login: "link", Context: "kind-test", Namespace: "default"}, User: "alice", Version: "v1.2.3",
	}, info)
	answer := s.do(s.request(http.MethodDelete, "/api/session", nil))
	assert.Equal(t, http.StatusNoContent, answer.StatusCode)
	assert.Negative(t, answer.Cookies()[0].MaxAge)
}

// Another site's name that leads to the loopback address is refused, whatever the cookie.
// Where the API server refuses the kubeconfig's credential, the link is not to blame: nobody is sent to look for it.
func TestARefusedKubeconfigAsksForNoLink(t *testing.T) {
	api := newAPI(t)
	s := newSite(t, api)
	api.revoke()
	answer := s.get("/api/session")
	assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)
	assert.Empty(t, bodyOf[failure](t, answer).Login)
}

func TestReboundNamesAreRefused(t *testing.T) {
	s := newSite(t, newAPI(t))
	port := s.url[strings.LastIndex(s.url, ":")+1:]
	for host, code := range map[string]int{
		"127.0.0.1:" + port: http.StatusOK, "localhost:" + port: http.StatusOK, "[::1]:" + port: http.StatusOK,
		"evil.example:" + port: http.StatusMisdirectedRequest, "127.0.0.1": http.StatusMisdirectedRequest,
		"localhost.evil.example:" + port: http.StatusMisdirectedRequest, "127.0.0.1:1": http.StatusMisdirectedRequest,
	} {
		for _, path := range []string{"/", "/api/session"} {
			r := s.request(http.MethodGet, path, nil)
			r.Host = host
			assert.Equal(t, code, s.do(r).StatusCode, host+path)
		}
	}
}

func TestWritesOfOtherSitesAreRefused(t *testing.T) {
	s := newSite(t, newAPI(t))
	for name, change := range map[string]func(http.Header){
		"another site":          func(h http.Header) { h.Set("Sec-Fetch-Site", "cross-site") },
		"another port":          func(h http.Header) { h.Set("Sec-Fetch-Site", "same-site") },
		"an old browser's site": func(h http.Header) { h.Set("Origin", "https://evil.example") },
		"a file":                func(h http.Header) { h.Set("Origin", "null") },
	} {
		for _, path := range []string{"/api/session", "/api/actions", "/api/submit"} {
			r := s.request(http.MethodPost, path, strings.NewReader("{}"))
			r.Header.Set("Content-Type", "application/json")
			change(r.Header)
			assert.Equal(t, http.StatusForbidden, s.do(r).StatusCode, "%s %s", name, path)
		}
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"} {
		r := s.request(http.MethodPost, "/api/session", strings.NewReader("{}"))
		r.Header.Set("Content-Type", kind)
		assert.Equal(t, http.StatusUnsupportedMediaType, s.do(r).StatusCode, kind)
	}
}

func TestEachAnswerLimitsThePage(t *testing.T) {
	s := newSite(t, newAPI(t))
	for _, path := range []string{"/", "/flows/a/b", "/assets/app-5f3a.js", "/assets/none.js", "/api/session", "/api/none"} {
		h := s.get(path).Header
		rules := h.Get("Content-Security-Policy")
		assert.True(t, strings.HasPrefix(rules, "default-src 'none'; script-src 'self';"), path)
		for _, rule := range []string{"connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			assert.Contains(t, rules, rule)
		}
		assert.NotContains(t, rules, "unsafe")
		assert.NotContains(t, rules, "http")
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "no-referrer", h.Get("Referrer-Policy"), path)
		assert.Empty(t, h.Get("Access-Control-Allow-Origin"), path)
	}
}

func TestPage(t *testing.T) {
	s := newSite(t, newAPI(t))
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/flows/team-a/nightly.v2": "text/html; charset=utf-8", "/index.html": "text/html; charset=utf-8",
		"/assets/app-5f3a.js": "text/javascript; charset=utf-8", "/assets/app-5f3a.css": "text/css; charset=utf-8",
	} {
		answer := s.get(path)
		assert.Equal(t, http.StatusOK, answer.StatusCode, path)
		assert.Equal(t, kind, answer.Header.Get("Content-Type"), path)
		assert.Equal(t, strings.HasPrefix(path, "/assets/"), strings.Contains(answer.Header.Get("Cache-Control"), "immutable"), path)
	}
	assert.Equal(t, http.StatusNotFound, s.get("/assets/app-0000.js").StatusCode)
	r := s.request(http.MethodGet, "/assets/app-5f3a.js", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	answer := s.do(r)
	assert.Equal(t, "gzip", answer.Header.Get("Content-Encoding"))
	_, err := newPage(fstest.MapFS{})
	require.ErrorContains(t, err, "index.html")
}
