package uiserver

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// idleTimeout is the time that a feed continues without readers, so that a viewer who changes screens and returns causes no second list.
// That of one object ends at once: the object can be large, and reading it again is one small request.
const idleTimeout = 30 * time.Second

// hub shares feeds among the streams of one credential. Credentials don't share any: what one may see is the API server's answer to
// that one alone.
type hub struct {
	ctx         context.Context
	client      client.WithWatch
	user        func() any
	idleTimeout time.Duration

	mu    sync.Mutex
	feeds map[feedKey]*shared
}

// feedKey identifies a feed by the watched source, and by the form in which it keeps the objects.
type feedKey struct {
	source
	keeps string
}

// shared is a feed of any type, and who uses it.
type shared struct {
	feed    any
	cancel  context.CancelFunc
	done    <-chan struct{} // closed when it can't come back
	readers int
	closing *time.Timer
}

func newHub(ctx context.Context, c client.WithWatch, user func() any, idleTimeout time.Duration) *hub {
	return &hub{ctx: ctx, client: c, user: user, idleTimeout: idleTimeout, feeds: map[feedKey]*shared{}}
}

// read opens a place in the feed of a source, which is begun if there is none. The project function determines what the feed keeps
// of each object, and keeps names that function.
func read[T any](h *hub, s source, keeps string, project func(*unstructured.Unstructured) T, wake chan<- struct{}) *reader[T] {
	key := feedKey{s, keeps}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.feeds[key]
	if known != nil {
		select {
		case <-known.done: // it was refused; perhaps it isn't any more
			known = nil
		default:
		}
	}
	if known == nil {
		ctx, cancel := context.WithCancel(h.ctx)
		done := make(chan struct{})
		f := newFeed(h.client, h.user, s, project)
		known = &shared{feed: f, cancel: cancel, done: done}
		h.feeds[key] = known
		go func() {
			defer close(done)
			f.run(ctx)
		}()
	}
	known.readers++
	if known.closing != nil {
		known.closing.Stop()
		known.closing = nil
	}
	f := known.feed.(*feed[T])
	r := &reader[T]{feed: f, wake: wake, changed: map[types.UID]struct{}{}, newState: true}
	r.shut = func() { h.leave(key, known) }
	f.mu.Lock()
	defer f.mu.Unlock()
	for uid := range f.items {
		r.changed[uid] = struct{}{}
	}
	f.readers[r] = struct{}{}
	r.poke()
	return r
}

// leave ends a feed that nobody has read for a while.
func (h *hub) leave(key feedKey, s *shared) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.readers--; s.readers > 0 {
		return
	}
	if key.fields != "" {
		h.end(key, s)
		return
	}
	s.closing = time.AfterFunc(h.idleTimeout, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if s.readers == 0 {
			h.end(key, s)
		}
	})
}

func (h *hub) end(key feedKey, s *shared) {
	s.cancel()
	if h.feeds[key] == s {
		delete(h.feeds, key)
	}
}
