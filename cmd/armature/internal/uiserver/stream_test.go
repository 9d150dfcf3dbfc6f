package uiserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAStreamRestsAfterExpensiveNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		out := newStream(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		began := time.Now()
		var looked []time.Duration
		out.wake <- struct{}{}
		out.run(&Viewer{hub: &hub{ctx: ctx}}, func() bool {
			looked = append(looked, time.Since(began))
			out.wake <- struct{}{} // there is always something new
			out.rest = map[int]time.Duration{1: 3 * time.Second}[len(looked)]
			if len(looked) == 3 {
				leave()
			}
			return true
		})
		assert.Equal(t, []time.Duration{0, 3 * time.Second, 3*time.Second + settle}, looked)
	})
}

// The page takes a silent connection for dead: pings come also while a stream rests.
func TestPingsComeWhileAStreamRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		sent := httptest.NewRecorder()
		out := newStream(sent, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		out.wake <- struct{}{}
		out.run(&Viewer{hub: &hub{ctx: ctx}}, func() bool {
			if out.rest > 0 {
				leave()
			}
			out.rest = 10 * pingEvery
			out.wake <- struct{}{}
			return true
		})
		assert.InDelta(t, 10, strings.Count(sent.Body.String(), "event: ping\ndata: {}\n\n"), 1)
	})
}

// However long the texts of objects are, and however many characters of them JSON escapes: one event is small.
func TestEventsAreSmall(t *testing.T) {
	sent := httptest.NewRecorder()
	out := newStream(sent, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	rows := make([]row, maxBatch+1)
	for i := range rows {
		rows[i].Message = strings.Repeat("<", 4<<10)
	}
	sendAll(out, "set", rows)
	require.NoError(t, out.err)
	n := 0
	for event := range strings.SplitSeq(sent.Body.String(), "\n\n") {
		assert.LessOrEqual(t, len(event), 1<<20)
		if name, data, _ := strings.Cut(event, "\ndata: "); name == "event: set" {
			n += len(decoded[[]row](t, data))
		}
	}
	assert.Len(t, rows, n)
}

// Each stream takes memory that all viewers share. A user has a part of it, however many tokens he has; a closed stream counts no more.
func TestAUserHasFewStreams(t *testing.T) {
	s, _ := newShared(t, newAPI(t))
	paths := []string{
		"objects?namespace=a", "queues?namespace=a", "flow?namespace=a&name=f", "detail?kind=Pod&namespace=a&name=p", "logs?namespace=a&pod=p",
	}
	open := func(user, path string) (code int, body io.ReadCloser) {
		s.bearer = user
		answer := s.get("/api/stream/" + path)
		assert.Equal(t, answer.StatusCode == http.StatusTooManyRequests, answer.Header.Get("Retry-After") == retryAfter)
		return answer.StatusCode, answer.Body
	}
	var bodies []io.Closer
	for i := range maxStreamsOfUser {
		code, body := open("alice", "objects?kind=JobFlow&namespace=a")
		require.Equal(t, http.StatusOK, code, i)
		bodies = append(bodies, body)
	}
	for _, path := range paths {
		code, body := open("alice", path)
		assert.Equal(t, http.StatusTooManyRequests, code, path)
		var f failure
		require.NoError(t, json.NewDecoder(body).Decode(&f))
		assert.Equal(t, "you have 100 streams open already: close other windows of this page", f.Error)
	}
	code, _ := open("bob", "objects?kind=JobFlow&namespace=b")
	assert.Equal(t, http.StatusOK, code)
	require.NoError(t, bodies[0].Close())
	require.Eventually(t, func() bool {
		code, _ = open("alice", "objects?kind=JobFlow&namespace=a")
		return code == http.StatusOK
	}, time.Minute, 10*time.Millisecond)
}
