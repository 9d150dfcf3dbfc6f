package uiserver

import (
	"encoding/json"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// pingEvery is the interval of pings, so that the page notices a dead connection: it takes one that is silent for three of them for dead.
	pingEvery = 15 * time.Second
	// writeTimeout is how long a browser may take no bytes before its stream is ended.
	writeTimeout = 30 * time.Second
	// settle is how long changes are gathered, so that a burst is one message.
	settle = 50 * time.Millisecond
)

// stream sends server-sent events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	r       *http.Request
	wake    chan struct{}
	err     error
	synced  bool
	// rest is the minimum time until the next update; expensive updates set it. Times below settle have no effect.
	rest time.Duration
}

func newStream(w http.ResponseWriter, r *http.Request) *stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // for proxies that gather what they pass on
	s := &stream{w: w, control: http.NewResponseController(w), r: r, wake: make(chan struct{}, 1)}
	s.send("reset", struct{}{})
	s.flush()
	return s
}

// send writes an event. After an error it does nothing: the browser has left.
func (s *stream) send(event string, data any) {
	if s.err != nil {
		return
	}
	body, err := json.Marshal(data)
	if err != nil {
		s.err = err
		return
	}
	s.writeEvent(event, body)
}

func (s *stream) writeEvent(event string, body []byte) {
	s.write([]byte("event: " + event + "\ndata: "))
	s.write(body)
	s.write([]byte("\n\n"))
}

func (s *stream) write(text []byte) {
	if s.err == nil {
		_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not all connections have one
		_, s.err = s.w.Write(text)
	}
}

func (s *stream) flush() {
	if s.err == nil {
		s.err = s.control.Flush()
	}
}

// problem ends a stream that can't go on.
func (s *stream) problem(err error) {
	_, f := failureOf(err)
	s.send("problem", f)
	s.flush()
}

// run sends what a function finds new, whenever the stream is woken, until the browser leaves or the viewer is forgotten.
func (s *stream) run(v *Viewer, update func() (synced bool)) {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	wake, rested := s.wake, (<-chan time.Time)(nil)
	for s.err == nil {
		select {
		case <-s.r.Context().Done():
			return
		case <-v.hub.ctx.Done():
			return
		case <-ping.C:
			s.ping()
		case <-rested:
			wake = s.wake
		case <-wake:
			if update() && !s.synced {
				s.synced = true
				s.send("synced", struct{}{})
			}
			wake, rested = nil, time.After(max(settle, s.rest)) // what comes meanwhile is one message
		}
		s.flush()
	}
}

// ping is an event, because a browser hides comments from the page.
func (s *stream) ping() { s.writeEvent("ping", []byte("{}")) }

// source sends the state of a source if it is new, and ends the stream of a viewer whose session is over.
func (s *stream) source(state *sourceState) {
	if state == nil {
		return
	}
	if state.State == stateLoggedOut {
		s.send("problem", failure{Error: state.Message, Reason: "Unauthorized"})
		s.flush()
		s.err = errNoSession
		return
	}
	s.send("source", state)
}

// sendBatch sends what a batch has, and empties it.
func (s *stream) sendBatch(event string, b *batch) {
	if b.n > 0 {
		s.writeEvent(event, append(b.body, ']'))
	}
	*b = batch{body: b.body[:0]}
}

// sendAll sends values in batches.
func sendAll[T any](s *stream, event string, all []T) {
	var b batch
	for i := range all {
		if s.err != nil {
			return
		}
		if err := b.add(&all[i]); err != nil {
			s.err = err
			return
		}
		if b.full() {
			s.sendBatch(event, &b)
		}
	}
	s.sendBatch(event, &b)
}

// sendGone sends the identities of what is gone.
func sendGone(s *stream, event string, gone []types.UID) { sendAll(s, event, gone) }

// end ends a stream whose object isn't there.
func (s *stream) end(err error) {
	if s.err == nil {
		s.problem(err)
		s.err = err
	}
}
