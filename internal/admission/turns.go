package admission

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// maxReview bounds what is read of a request: an object as large as the API server takes, twice, and what is around it.
	maxReview = 7 << 20
	// maxReaders bounds how many requests are in memory.
	maxReaders = 16
	// readFor bounds how long a request may take to come.
	readFor = 10 * time.Second
	// usualWait and longestWait are how long an API server waits for an answer if nothing else is said, and at most.
	usualWait, longestWait = 10 * time.Second, 30 * time.Second
)

// turns lets requests be judged one at a time. The port is open to whoever reaches it, and judging takes memory and time; of
// what has to wait, no more is kept than [maxReaders] requests. One that comes slowly holds up no other.
type turns struct {
	readers, judge chan struct{}
}

func newTurns() *turns {
	return &turns{readers: make(chan struct{}, maxReaders), judge: make(chan struct{}, 1)}
}

// around returns a handler that waits for its turn, as long as the API server waits for the answer. What comes to its turn later
// isn't judged, since nobody would read the answer; what is judged then goes on for a bounded time: specs have bounds.
func (t *turns) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), waitOf(r))
		defer cancel()
		r = r.WithContext(ctx)
		if !take(ctx, t.readers) {
			late(w)
			return
		}
		defer func() { <-t.readers }()
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readFor)) // a recorder of tests has none
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReview))
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			http.Error(w, "the review is too large", http.StatusRequestEntityTooLarge)
			return
		case err != nil:
			http.Error(w, "the review didn't come", http.StatusRequestTimeout)
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		if !take(ctx, t.judge) {
			late(w)
			return
		}
		defer func() { <-t.judge }()
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// waitOf returns how long the client waits: the API server says so in the query.
func waitOf(r *http.Request) time.Duration {
	wait, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || wait <= 0 {
		return usualWait
	}
	return min(wait, longestWait)
}

func late(w http.ResponseWriter) {
	http.Error(w, "the review waited too long for its turn", http.StatusServiceUnavailable)
}

// take waits for a place, and reports false if the context ends before.
func take(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if ctx.Err() != nil { // both were ready
		<-places
		return false
	}
	return true
}
