package store

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newTestStorage(t *testing.T, dir string) *storage {
	s, err := newStorage(&node{mux: http.NewServeMux()}, dir)
	require.NoError(t, err)
	return s
}

func (s *storage) do(method, path, body string) (int, string) {
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

func TestTheNewestVersionIsKept(t *testing.T) {
	dir := t.TempDir()
	s := newTestStorage(t, dir)
	for _, put := range [][2]string{{"2", "two"}, {"1", "one"}, {"3", "three"}} {
		code, _ := s.do("PUT", "/kv/a?version="+put[0], put[1])
		assert.Equal(t, 200, code)
	}
	code, body := s.do("GET", "/kv/a", "")
	assert.Equal(t, 200, code)
	assert.JSONEq(t, `{"version":3,"data":"three"}`, body)
	code, _ = s.do("GET", "/kv/b", "")
	assert.Equal(t, 404, code)
	code, _ = s.do("PUT", "/kv/b?version=x", "")
	assert.Equal(t, 400, code)
	assert.Equal(t, map[string]value{"a": {3, "three"}}, newTestStorage(t, dir).all(), "it is on disk")
}

func TestLoad(t *testing.T) {
	var l load
	now := time.Unix(1000, 0)
	for range 40 {
		l.count(now)
	}
	assert.Zero(t, l.perSecond(now), "the second isn't full yet")
	assert.Equal(t, 10.0, l.perSecond(now.Add(time.Second)))
	assert.Equal(t, 10.0, l.perSecond(now.Add(over*time.Second)))
	assert.Zero(t, l.perSecond(now.Add((over+1)*time.Second)))
	l.count(now.Add(8 * time.Second)) // the same place
	assert.Equal(t, 0.25, l.perSecond(now.Add(9*time.Second)))
}
