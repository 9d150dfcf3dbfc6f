package admission

import (
	"bytes"
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
)

// turns lets requests be judged one at a time. The port is open to whoever reaches it, and judging takes memory and time; of
// what has to wait, no more is kept than [maxReaders] requests. One that comes slowly holds up no other.
type turns struct {
	readers, judge chan struct{}
}

func newTurns() *turns {
	return &turns{readers: make(chan struct{}, maxReaders), judge: make(chan struct{}, 1)}
}

// around returns a handler that waits for its turn. Who has given up isn't answered.
func (t *turns) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !take(r, t.readers) {
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
		if !take(r, t.judge) {
			return
		}
		defer func() { <-t.judge }()
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// take waits for a place, and reports false if the request is given up before.
func take(r *http.Request, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-r.Context().Done():
		return false
	}
}
