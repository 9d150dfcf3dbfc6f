package admission

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/armature-dev/armature/operators/jobflow"
)

func TestReviewsAreJudgedOneAtATime(t *testing.T) {
	var now, most, judged atomic.Int32
	server := httptest.NewServer(newTurns().around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Len(t, body, 1<<16)
		judged.Add(1)
		now.Add(-1)
	})))
	defer server.Close()
	var clients sync.WaitGroup
	for range 3 * maxReaders {
		clients.Go(func() {
			answer, err := http.Post(server.URL+"?timeout=30s", "application/json", strings.NewReader(strings.Repeat("x", 1<<16)))
			if assert.NoError(t, err) {
				assert.Equal(t, http.StatusOK, answer.StatusCode)
				answer.Body.Close()
			}
		})
	}
	clients.Wait()
	assert.EqualValues(t, 1, most.Load())
	assert.EqualValues(t, 3*maxReaders, judged.Load())
}

func TestAReviewThatIsTooLarge(t *testing.T) {
	handler := newTurns().around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is judged") }))
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(make([]byte, maxReview+1))))
	assert.Equal(t, http.StatusRequestEntityTooLarge, answer.Code)
}

// A request that comes slowly keeps no other from being judged, and one whose client has left is forgotten.
func TestASlowReviewHoldsUpNoOther(t *testing.T) {
	turns := newTurns()
	server := httptest.NewServer(turns.around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	defer server.Close()
	slow, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	_, err = io.WriteString(slow, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)
	answer, err := http.Post(server.URL, "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	answer.Body.Close()
	assert.Equal(t, http.StatusOK, answer.StatusCode)
	require.NoError(t, slow.Close())

	turns.judge <- struct{}{} // as if one were being judged
	late := httptest.NewRecorder()
	turns.around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is judged") })).
		ServeHTTP(late, httptest.NewRequest(http.MethodPost, "/?timeout=1ms", strings.NewReader("{}")))
	assert.Equal(t, http.StatusServiceUnavailable, late.Code, "the API server waits no longer")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	turns.around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is judged") })).
		ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}")).WithContext(ctx))
	<-turns.judge
}

// What is decoded when nobody waits any more isn't judged.
func TestNothingIsJudgedTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New("JobFlow", jobflow.Plan).ValidateCreate(ctx, flowOf("a"))
	assert.True(t, apierrors.IsTimeout(err), "%v", err)
	_, err = New("JobFlow", jobflow.Plan).ValidateUpdate(ctx, flowOf(), flowOf("a"))
	assert.True(t, apierrors.IsTimeout(err), "%v", err)
}

func TestHowLongTheAPIServerWaits(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"": usualWait, "?timeout=5s": 5 * time.Second, "?timeout=1h": longestWait, "?timeout=-1s": usualWait, "?timeout=soon": usualWait,
	} {
		assert.Equal(t, want, waitOf(httptest.NewRequest(http.MethodPost, "/"+query, nil)), query)
	}
}
