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

// Limiter decides which plans may run. A nil one lets all run; the zero value is not usable, see [New].
type Limiter struct {
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
	delayed   int       // delayed owners, since a plan began
	due       time.Time // when the first of them asks again
}

// New returns a Limiter of the given number of CPUs.
func New(cpus int) *Limiter {
	return &Limiter{atOnce: max(1, cpus/2), namespaces: map[string]*usage{}}
}

// Slot is a plan that may run. It must be ended.
type Slot struct {
	limiter   *Limiter // nil: it has ended, or isn't limited
	namespace string
}

// Begin returns the slot of a plan of a namespace if it may run now, otherwise the delay until the next attempt.
func (l *Limiter) Begin(namespace string, now time.Time) (Slot, time.Duration) {
	if l == nil {
		return Slot{}, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(namespace)
	limited := !u.expensive.IsZero() && now.Sub(u.expensive) < remembered
	if (limited || !u.known) && u.running > 0 {
		return Slot{}, u.delay(now)
	}
	if limited && !l.isTurnOf(u, now) {
		if !slices.Contains(l.waiting, u) {
			l.waiting = append(l.waiting, u)
		}
		return Slot{}, u.delay(now)
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(w *usage) bool { return w == u })
	u.delayed = 0
	u.running++
	if limited {
		u.limited = true
		l.running++
	}
	return Slot{l, namespace}, 0
}

// isTurnOf reports whether an expensive plan may run besides the running ones, and no other namespace has waited for that longer. A
// namespace that doesn't ask again in time loses its place, because its owner may be gone.
func (l *Limiter) isTurnOf(u *usage, now time.Time) bool {
	l.waiting = slices.DeleteFunc(l.waiting, func(w *usage) bool {
		return w != u && (now.Sub(w.due) > grace || w.due.Sub(now) > maxWait) // or the clock was set back
	})
	place := slices.Index(l.waiting, u)
	if place < 0 {
		place = len(l.waiting)
	}
	return l.running+place < l.atOnce
}

// delay returns the delay of a further owner.
func (u *usage) delay(now time.Time) time.Duration {
	u.delayed++
	wait := min(time.Duration(u.delayed)*retryAfter, maxWait)
	if at := now.Add(wait); !u.due.After(now) || at.Before(u.due) {
		u.due = at
	}
	return wait
}

// End takes the duration of the plan. Only the first call has an effect.
func (s *Slot) End(took time.Duration, now time.Time) {
	l := s.limiter
	if l == nil {
		return
	}
	s.limiter = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(s.namespace)
	u.known = true
	u.running--
	if u.limited {
		u.limited = false
		l.running--
	}
	if took >= expensive {
		u.expensive = now
	}
}

// of returns the record of a namespace. If there are too many it drops some.
func (l *Limiter) of(namespace string) *usage {
	u := l.namespaces[namespace]
	if u == nil {
		if len(l.namespaces) >= maxNamespaces {
			for name, other := range l.namespaces {
				if other.running == 0 {
					delete(l.namespaces, name)
				}
			}
		}
		u = &usage{}
		l.namespaces[namespace] = u
	}
	return u
}
