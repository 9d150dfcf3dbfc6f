package uiserver

import (
	"k8s.io/apimachinery/pkg/types"
)

// reader is one stream's place in a feed. What changes while the stream is busy is noted once for each object, so that a slow
// browser costs no memory but that.
type reader[T any] struct {
	feed *feed[T]
	wake chan<- struct{} // buffers one
	shut func()

	// The feed's lock guards these.
	changed  map[types.UID]struct{}
	newState bool
}

// changes is what has happened since a reader looked the last time.
type changes[T any] struct {
	set  []T
	gone []types.UID
	// state is the source's; nil if it is as it was.
	state *sourceState
	// synced says that all that exists has been read, or that the API server refuses to show it.
	synced bool
	// complete says that all that exists has been read: what isn't there doesn't exist. It is false while the API server refuses or doesn't
	// answer.
	complete bool
}

// note notes a change, and poke wakes the stream. The caller holds the feed's lock.
func (r *reader[T]) note(uid types.UID) {
	r.changed[uid] = struct{}{}
	r.poke()
}

func (r *reader[T]) poke() {
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// take returns what has changed. Its work is proportional to that.
func (r *reader[T]) take() changes[T] {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	c := changes[T]{synced: f.synced, complete: f.state.State == stateLive || f.state.State == stateLimited}
	for uid := range r.changed {
		if known, ok := f.items[uid]; ok {
			c.set = append(c.set, known.value)
		} else {
			c.gone = append(c.gone, uid)
		}
	}
	clear(r.changed)
	if r.newState {
		state := f.state
		c.state, r.newState = &state, false
	}
	return c
}

// close gives up the place.
func (r *reader[T]) close() {
	r.feed.mu.Lock()
	delete(r.feed.readers, r)
	r.feed.mu.Unlock()
	r.shut()
}
