package uiserver

import (
	"context"
	"sync"
)

// slots let a few things be done at a time, and of each user one, so that no user holds all of them. Everything else waits.
type slots struct {
	all chan struct{} // has an element for each slot that is taken
	userSlots
}

// userSlots let a few things of each user be done at a time.
type userSlots struct {
	ofUser int

	mu sync.Mutex
	of map[any]*userSlot
}

// userSlot are the slots of a user.
type userSlot struct {
	taken chan struct{}
	known int // who has a slot, or waits for one
}

func newSlots(n int) *slots {
	return &slots{all: make(chan struct{}, n), userSlots: userSlots{ofUser: 1}}
}

// take waits for a slot until the context ends. The caller must call leave.
func (s *slots) take(ctx context.Context, user any) (leave func(), err error) {
	leaveOwn, err := s.userSlots.take(ctx, user)
	if err != nil {
		return nil, err
	}
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		leaveOwn()
		return nil, ctx.Err()
	}
	return func() {
		<-s.all
		leaveOwn()
	}, nil
}

func (s *userSlots) take(ctx context.Context, user any) (leave func(), err error) {
	own := s.enter(user)
	select {
	case own.taken <- struct{}{}:
		return func() { s.leave(user, own) }, nil
	case <-ctx.Done():
		s.exit(user)
		return nil, ctx.Err()
	}
}

// try takes a slot if there is one now. Without one, it returns nil.
func (s *userSlots) try(user any) (leave func()) {
	own := s.enter(user)
	select {
	case own.taken <- struct{}{}:
		return func() { s.leave(user, own) }
	default:
		s.exit(user)
		return nil
	}
}

func (s *userSlots) leave(user any, own *userSlot) {
	<-own.taken
	s.exit(user)
}

func (s *userSlots) enter(user any) *userSlot {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.of[user]
	if own == nil {
		own = &userSlot{taken: make(chan struct{}, s.ofUser)}
		if s.of == nil {
			s.of = map[any]*userSlot{}
		}
		s.of[user] = own
	}
	own.known++
	return own
}

func (s *userSlots) exit(user any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.of[user]; own.known > 1 {
		own.known--
	} else {
		delete(s.of, user)
	}
}
