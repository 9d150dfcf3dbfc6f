package uiserver

import (
	"context"
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
