package uiserver

import (
	"context"
	"sync"
)

// slots let a few things be done at a time, and of each user one, so that no user holds all of them. Everything else waits.
type slots struct {
	all chan struct{} // has an element for each slot that is taken

	mu sync.Mutex
	of map[any]*userSlot
}

// userSlot is the one slot of a user.
type userSlot struct {
	taken chan struct{}
	known int // who has the slot, or waits for it
}

func newSlots(n int) *slots { return &slots{all: make(chan struct{}, n), of: map[any]*userSlot{}} }

// take waits for a slot until the context ends. The caller must call leave.
func (s *slots) take(ctx context.Context, user any) (leave func(), err error) {
	own := s.enter(user)
	select {
	case own.taken <- struct{}{}:
	case <-ctx.Done():
		s.exit(user)
		return nil, ctx.Err()
	}
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		<-own.taken
		s.exit(user)
		return nil, ctx.Err()
	}
	return func() {
		<-s.all
		<-own.taken
		s.exit(user)
	}, nil
}

func (s *slots) enter(user any) *userSlot {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.of[user]
	if own == nil {
		own = &userSlot{taken: make(chan struct{}, 1)}
		s.of[user] = own
	}
	own.known++
	return own
}

func (s *slots) exit(user any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.of[user]; own.known > 1 {
		own.known--
	} else {
		delete(s.of, user)
	}
}
