package uiserver

import (
	"context"
	"sync"
)

// slots let a few things be done at a time, and of each user fewer, so that no user holds all of them. Everything else waits.
type slots struct {
	all    chan struct{} // has an element for each slot that is taken
	ofUser int

	mu sync.Mutex
	of map[any]*userSlots
}

// userSlots are the slots of a user.
type userSlots struct {
	taken chan struct{}
	known int // who has a slot, or waits for one
}

func newSlots(n, ofUser int) *slots {
	return &slots{all: make(chan struct{}, n), ofUser: ofUser, of: map[any]*userSlots{}}
}

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

func (s *slots) enter(user any) *userSlots {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.of[user]
	if own == nil {
		own = &userSlots{taken: make(chan struct{}, s.ofUser)}
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
