package fairshare

import (
	"slices"
	"sync"
	"time"
)

const (
	// expensive is the minimum CPU time of an expensive plan. It is half of the time slice of a goroutine.
	expensive = 5 * time.Millisecond
	// remembered is how long a namespace with an expensive plan counts as expensive. It stays expensive while it waits for a slot.
	remembered = 10 * time.Second
	// retryAfter is the delay of the first waiting owner of the first waiting namespace. Each further namespace and each further owner of
	// a namespace has this much more, so that thousands of them don't retry at the same time.
	retryAfter = 2 * time.Millisecond
	// maxWait limits the delay.
	maxWait = time.Second
	// grace is how late a waiting namespace may retry before others overtake it. A busy process takes that long to get to an owner. After
	// maxWait the namespace loses its place, because its owner may be gone.
	grace = 100 * time.Millisecond
	// maxNamespaces is the number of recorded namespaces above which those that limit no plan now are dropped.
	maxNamespaces = 4096
)

// Limiter decides which plans may run. A nil one lets all run; the zero value is not usable, see [New].
type Limiter struct {
	atOnce int // expensive plans

	mu         sync.Mutex
	running    int // plans of expensive namespaces
	namespaces map[string]*usage
	waiting    []*usage // expensive namespaces without a running plan, the one that has waited longest first
}

// usage is the record of a namespace's plans.
type usage struct {
	known     bool      // a plan has ended
	expensive time.Time // when the last expensive plan ended; zero: none is remembered
	running   int
	limited   bool      // the plan that runs counts as an expensive one
	waits     bool      // the namespace is in the limiter's waiting
	retry     time.Time // when the first of its delayed owners retries
	delayed   int       // its other delayed owners, since a plan began
}

// New returns a Limiter of the given number of CPUs.
func New(cpus int) *Limiter {
	return &Limiter{atOnce: max(1, cpus/2), namespaces: map[string]*usage{}}
}

// Slot is a plan that may run. It must be ended or released.
type Slot struct {
	limiter *Limiter // nil: it has ended, or isn't limited
	usage   *usage
	began   time.Time
	waited  bool // the namespace counted as expensive only because it waited
}

// Begin returns the slot of a plan of a namespace if it may run now, otherwise the delay until the next attempt.
func (l *Limiter) Begin(namespace string, now time.Time) (Slot, time.Duration) {
	if l == nil {
		return Slot{}, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(namespace, now)
	limited := u.isExpensive(now)
	waited := limited && !u.isRemembered(now)
	if !limited && !u.expensive.IsZero() { // its plans may be cheap now: the next one decides
		u.expensive, u.known = time.Time{}, false
	}
	if (limited || !u.known) && u.running > 0 {
		return Slot{}, u.delay(0, now)
	}
	if limited {
		if place := l.place(u, now); l.running+place >= l.atOnce {
			return Slot{}, u.delay(place, now)
		}
		u.waits, u.limited = false, true
		l.waiting = slices.DeleteFunc(l.waiting, func(w *usage) bool { return w == u })
		l.running++
	}
	u.running++
	u.retry, u.delayed = time.Time{}, 0
	return Slot{l, u, now, waited}, 0
}

// isExpensive reports whether the plans of a namespace are limited.
func (u *usage) isExpensive(now time.Time) bool {
	return u.limited || u.waits || u.isRemembered(now)
}

// isRemembered reports whether an expensive plan has ended not long ago.
func (u *usage) isRemembered(now time.Time) bool {
	return !u.expensive.IsZero() && now.Sub(u.expensive) < remembered
}

// place returns how many namespaces have waited longer than an expensive one. If there is no place for its plan, it waits from now on.
func (l *Limiter) place(u *usage, now time.Time) int {
	l.dropGone(u, now)
	if !u.waits {
		u.waits = true
		l.waiting = append(l.waiting, u)
	}
	place := 0
	for _, w := range l.waiting {
		if w == u {
			break
		}
		if now.Sub(w.retry) <= grace {
			place++
		}
	}
	return place
}

// dropGone removes the waiting namespaces, except one, whose owners don't retry any more.
func (l *Limiter) dropGone(except *usage, now time.Time) {
	l.waiting = slices.DeleteFunc(l.waiting, func(w *usage) bool {
		if w != except && (now.Sub(w.retry) > maxWait || w.retry.Sub(now) > maxWait) { // or the clock was set back
			w.waits = false
		}
		return !w.waits
	})
}

// delay returns the delay of an owner whose namespace has a place among those that wait. The first owner that asks retries soon, so that
// a free slot is used, and the others after it.
func (u *usage) delay(place int, now time.Time) time.Duration {
	if !now.Before(u.retry) || u.retry.Sub(now) > maxWait {
		wait := min(time.Duration(1+place)*retryAfter, maxWait)
		u.retry = now.Add(wait)
		return wait
	}
	u.delayed++
	return min(u.retry.Sub(now)+time.Duration(u.delayed)*retryAfter, maxWait)
}

// End ends a plan that used the given CPU time. Only the first call of End or Release has an effect.
func (s *Slot) End(used time.Duration, now time.Time) {
	s.release(func(u *usage, _ bool) {
		u.known = true
		if used >= expensive {
			u.expensive = now
		}
	})
}

// Release gives up the slot of a plan that hasn't run.
func (s *Slot) Release() {
	s.release(func(u *usage, limited bool) {
		if limited && s.waited { // the next plan decides, and is limited as this one was
			u.expensive = s.began
		}
	})
}

// release gives up the slot and records what is known now. limited is true if the plan counted as an expensive one.
func (s *Slot) release(record func(u *usage, limited bool)) {
	l, u := s.limiter, s.usage
	if l == nil {
		return
	}
	s.limiter = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	limited := u.limited
	u.running--
	if limited {
		u.limited = false
		l.running--
	}
	record(u, limited)
}

// of returns the record of a namespace. If there are too many it drops those that don't limit anything now.
func (l *Limiter) of(namespace string, now time.Time) *usage {
	u := l.namespaces[namespace]
	if u == nil {
		if len(l.namespaces) >= maxNamespaces {
			l.dropGone(nil, now)
			for name, other := range l.namespaces {
				if other.running == 0 && !other.isExpensive(now) {
					delete(l.namespaces, name)
				}
			}
		}
		u = &usage{}
		l.namespaces[namespace] = u
	}
	return u
}
