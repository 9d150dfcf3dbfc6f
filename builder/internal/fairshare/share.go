package fairshare

import (
	"slices"
	"sync"
	"time"
)

const (
	// expensive is the minimum duration of an expensive plan. It is half of the time slice of a goroutine.
	expensive = 5 * time.Millisecond
	// remembered is how long a namespace with an expensive plan counts as expensive.
	remembered = 10 * time.Second
	// retryAfter is the delay of the first waiting owner. Each further one has this much more, so that thousands of them don't retry at
	// the same time.
	retryAfter = 2 * time.Millisecond
	// maxWait limits the delay.
	maxWait = time.Second
	// grace is how late a waiting namespace may ask again without losing its turn. A busy process takes that long to get to an owner.
	grace = 100 * time.Millisecond
	// maxNamespaces is the number of recorded namespaces above which those without a running plan are dropped.
	maxNamespaces = 4096
)

// Share decides which plans may run. A nil one lets all run; the zero value is not usable, see [New].
type Share struct {
	atOnce int // expensive plans

	mu         sync.Mutex
	running    int // plans of expensive namespaces
	namespaces map[string]*usage
	waiting    []*usage // expensive namespaces without a running plan, in the order of their turns
}

// usage is the record of a namespace's plans.
type usage struct {
	known     bool      // a plan has ended
	expensive time.Time // when the last expensive plan ended; zero: never
	running   int
	limited   bool      // the plan that runs counts as an expensive one
	putOff    int       // delayed owners, since a plan began
	due       time.Time // when the first of them asks again
}

// New returns a Share of the given number of CPUs.
func New(cpus int) *Share {
	return &Share{atOnce: max(1, cpus/2), namespaces: map[string]*usage{}}
}

// Turn is a plan that may run. It must be ended.
type Turn struct {
	share     *Share // nil: it has ended, or isn't limited
	namespace string
}

// Begin returns the turn of a plan of a namespace if it may run now, otherwise the delay until the next attempt.
func (s *Share) Begin(namespace string, now time.Time) (Turn, time.Duration) {
	if s == nil {
		return Turn{}, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.of(namespace)
	limited := !u.expensive.IsZero() && now.Sub(u.expensive) < remembered
	if (limited || !u.known) && u.running > 0 {
		return Turn{}, u.delay(now)
	}
	if limited && !s.isTurnOf(u, now) {
		if !slices.Contains(s.waiting, u) {
			s.waiting = append(s.waiting, u)
		}
		return Turn{}, u.delay(now)
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(w *usage) bool { return w == u })
	u.putOff = 0
	u.running++
	if limited {
		u.limited = true
		s.running++
	}
	return Turn{s, namespace}, 0
}

// isTurnOf reports whether an expensive plan may run besides the running ones, and no other namespace has waited for that longer. A
// namespace that doesn't ask again in time loses its place, because its owner may be gone.
func (s *Share) isTurnOf(u *usage, now time.Time) bool {
	s.waiting = slices.DeleteFunc(s.waiting, func(w *usage) bool {
		return w != u && (now.Sub(w.due) > grace || w.due.Sub(now) > maxWait) // or the clock was set back
	})
	place := slices.Index(s.waiting, u)
	if place < 0 {
		place = len(s.waiting)
	}
	return s.running+place < s.atOnce
}

// delay returns the delay of a further owner.
func (u *usage) delay(now time.Time) time.Duration {
	u.putOff++
	wait := min(time.Duration(u.putOff)*retryAfter, maxWait)
	if at := now.Add(wait); !u.due.After(now) || at.Before(u.due) {
		u.due = at
	}
	return wait
}

// End takes the duration of the plan. Only the first call has an effect.
func (t *Turn) End(took time.Duration, now time.Time) {
	s := t.share
	if s == nil {
		return
	}
	t.share = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.of(t.namespace)
	u.known = true
	u.running--
	if u.limited {
		u.limited = false
		s.running--
	}
	if took >= expensive {
		u.expensive = now
	}
}

// of returns the record of a namespace. If there are too many it drops some.
func (s *Share) of(namespace string) *usage {
	u := s.namespaces[namespace]
	if u == nil {
		if len(s.namespaces) >= maxNamespaces {
			for name, other := range s.namespaces {
				if other.running == 0 {
					delete(s.namespaces, name)
				}
			}
		}
		u = &usage{}
		s.namespaces[namespace] = u
	}
	return u
}
