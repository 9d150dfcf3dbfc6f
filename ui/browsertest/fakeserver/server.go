package fakeserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Policy is the Content-Security-Policy of ui/API.md.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// RetryAfter is when the page is to ask again after a refusal with 429, in seconds.
const RetryAfter = "7"

// Event is one server-sent event.
type Event struct {
	Name string
	Data any
}

// E returns an event.
func E(name string, data any) Event { return Event{Name: name, Data: data} }

// Request is a request that the page made.
type Request struct {
	Method, Path, Query string
	Body                map[string]any
}

// Server serves the page and made answers. All methods may be called at any time.
type Server struct {
	*httptest.Server
	assets string

	// Peers is a directory to serve at /peers/, without a policy: the pages that this one is compared with.
	Peers string

	mu       sync.Mutex
	initial  map[string][]Event
	open     map[string]map[chan Event]struct{}
	replies  map[string]reply
	requests []Request
	refusal  *reply
}

type reply struct {
	status int
	value  any
}

// New starts a server of the page in a directory of built assets. Close stops it.
func New(assets string) *Server {
	s := &Server{assets: assets, initial: map[string][]Event{}, open: map[string]map[chan Event]struct{}{}, replies: map[string]reply{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Reply sets the answer to a method and path, such as "GET /api/session".
func (s *Server) Reply(request string, status int, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies[request] = reply{status: status, value: value}
}

// Stream sets what a stream sends first. Keys are: objects "", flow "namespace/name", detail "Kind/namespace/name/node", logs
// and queues "".
func (s *Server) Stream(stream, key string, events ...Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.initial[stream+" "+key] = events
}

// Send sends an event to those who have a stream open.
func (s *Server) Send(stream, key, name string, data any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open[stream+" "+key] {
		c <- Event{Name: name, Data: data}
	}
}

// Open says how many streams are open.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, all := range s.open {
		n += len(all)
	}
	return n
}

// SetDown ends all streams and refuses all requests of the API as a proxy without a server behind it does, or accepts them again.
func (s *Server) SetDown(down bool) {
	if down {
		s.Refuse(http.StatusBadGateway, map[string]string{"error": "down"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = nil
}

// Refuse ends all streams, and answers all requests of the API alike until SetDown(false).
func (s *Server) Refuse(status int, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = &reply{status: status, value: value}
	for _, all := range s.open {
		for c := range all {
			close(c)
		}
	}
	s.open = map[string]map[chan Event]struct{}{}
}

// Requests returns the POST and DELETE requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.Peers != "" && strings.HasPrefix(r.URL.Path, "/peers/") {
		http.StripPrefix("/peers/", http.FileServer(http.Dir(s.Peers))).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", Policy)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	path, isAPI := strings.CutPrefix(r.URL.Path, "/api/")
	if !isAPI {
		s.file(w, r)
		return
	}
	s.mu.Lock()
	answer, known := s.replies[r.Method+" "+r.URL.Path]
	if s.refusal != nil {
		answer, known = *s.refusal, true
	}
	if r.Method != http.MethodGet {
		request := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery}
		_ = json.NewDecoder(r.Body).Decode(&request.Body)
		s.requests = append(s.requests, request)
	}
	s.mu.Unlock()
	if stream, is := strings.CutPrefix(path, "stream/"); is && !known {
		s.stream(w, r, stream)
		return
	}
	if !known {
		answer = reply{status: http.StatusNotFound, value: map[string]string{"error": "no such answer: " + r.Method + " " + r.URL.Path}}
	}
	w.Header().Set("Content-Type", "application/json")
	if answer.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", RetryAfter)
	}
	w.WriteHeader(answer.status)
	_ = json.NewEncoder(w).Encode(answer.value)
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name := filepath.Join(s.assets, filepath.FromSlash(r.URL.Path))
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		name = filepath.Join(s.assets, "index.html")
	}
	http.ServeFile(w, r, name)
}

func key(stream string, r *http.Request) string {
	q := r.URL.Query()
	switch stream {
	case "flow":
		return q.Get("namespace") + "/" + q.Get("name")
	case "detail":
		return strings.Join([]string{q.Get("kind"), q.Get("namespace"), q.Get("name"), q.Get("node")}, "/")
	default:
		return ""
	}
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, stream string) {
	id := stream + " " + key(stream, r)
	events := make(chan Event, 1000)
	s.mu.Lock()
	first := append([]Event{E("reset", struct{}{})}, s.initial[id]...)
	first = append(first, E("synced", struct{}{}))
	if s.open[id] == nil {
		s.open[id] = map[chan Event]struct{}{}
	}
	s.open[id][events] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.open[id], events)
		s.mu.Unlock()
	}()

	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	write := func(e Event) {
		data, err := json.Marshal(e.Data)
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Name, data)
	}
	for _, e := range first {
		write(e)
	}
	ping := time.NewTicker(15 * time.Second)
	defer ping.Stop()
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-ping.C:
			write(E("ping", struct{}{}))
		case e, more := <-events:
			if !more {
				return
			}
			write(e)
		case <-r.Context().Done():
			return
		}
	}
}
