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
	limited   bool // the plan that runs counts as an expensive one
	waits     bool // the namespace is in the limiter's waiting
	owners    line // its delayed owners
	observed  line // those that have what their plan observes
}

// line are the delayed owners of a namespace, since a plan of it began.
type line struct {
	retry time.Time // when the first one retries
	more  int       // the others
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
	return l.begin(namespace, false, now)
}

// Ask returns 0 if an owner of a namespace may now observe something outside of the cluster for its plan, otherwise the delay until the
// next attempt. It takes no slot: others use a free one during the observation, after which BeginObserved must follow. The namespace keeps
// its place for about maxWait.
func (l *Limiter) Ask(namespace string, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(namespace, now)
	limited, place, ok := l.allows(u, now)
	if !ok || u.observed.isExpected(now) {
		return u.owners.delay(place, now)
	}
	if limited && !now.Before(u.owners.retry) {
		u.owners.retry = now.Add(-grace - 1) // late, so that others overtake it at once
	}
	return 0
}

// BeginObserved is Begin of a plan that has what it observes. If it must wait, no further owner of its namespace observes meanwhile.
// Otherwise each of thousands of owners could use a turn for its observation, and none for its plan.
func (l *Limiter) BeginObserved(namespace string, now time.Time) (Slot, time.Duration) {
	return l.begin(namespace, true, now)
}

func (l *Limiter) begin(namespace string, observed bool, now time.Time) (Slot, time.Duration) {
	if l == nil {
		return Slot{}, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(namespace, now)
	limited, place, ok := l.allows(u, now)
	switch {
	case !ok && observed:
		return Slot{}, u.observed.delay(place, now)
	case !ok:
		return Slot{}, u.owners.delay(place, now)
	}
	waited := limited && !u.isRemembered(now)
	if limited {
		u.waits, u.limited = false, true
		l.waiting = slices.DeleteFunc(l.waiting, func(w *usage) bool { return w == u })
		l.running++
	}
	u.running++
	u.owners, u.observed = line{}, line{}
	return Slot{l, u, now, waited}, 0
}

// allows returns whether a plan counts as an expensive one, the place of its namespace among those that wait, and whether there is a slot
// for it.
func (l *Limiter) allows(u *usage, now time.Time) (limited bool, place int, ok bool) {
	limited = u.isExpensive(now)
	if !limited && !u.expensive.IsZero() { // its plans may be cheap now: the next one decides
		u.expensive, u.known = time.Time{}, false
	}
	if (limited || !u.known) && u.running > 0 {
		return limited, 0, false
	}
	if !limited {
		return limited, 0, true
	}
	place = l.place(u, now)
	return limited, place, l.running+place < l.atOnce
}

// isExpensive reports whether the plans of a namespace are limited.
func (u *usage) isExpensive(now time.Time) bool {
	return u.limited || u.waits || u.isRemembered(now)
}

// isRemembered reports whether an expensive plan has ended not long ago.
func (u *usage) isRemembered(now time.Time) bool {
	return !u.expensive.IsZero() && now.Sub(u.expensive) < remembered
}

// place returns how many namespaces have waited longer than an expensive one, which waits from now on.
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
		if now.Sub(w.retry()) <= grace {
			place++
		}
	}
	return place
}

// dropGone removes the waiting namespaces, except one, whose owners don't retry any more.
func (l *Limiter) dropGone(except *usage, now time.Time) {
	l.waiting = slices.DeleteFunc(l.waiting, func(w *usage) bool {
		if retry := w.retry(); w != except && (now.Sub(retry) > maxWait || retry.Sub(now) > maxWait) { // or the clock was set back
			w.waits = false
		}
		return !w.waits
	})
}

// retry returns when a delayed owner of the namespace retries.
func (u *usage) retry() time.Time {
	if u.owners.retry.After(u.observed.retry) {
		return u.owners.retry
	}
	return u.observed.retry
}

// delay returns the delay of an owner whose namespace has a place among those that wait. The first owner that asks retries soon, so that
// a free slot is used, and the others after it.
func (o *line) delay(place int, now time.Time) time.Duration {
	if !now.Before(o.retry) || o.retry.Sub(now) > maxWait {
		wait := min(time.Duration(1+place)*retryAfter, maxWait)
		o.retry = now.Add(wait)
		return wait
	}
	o.more++
	return min(o.retry.Sub(now)+time.Duration(o.more)*retryAfter, maxWait)
}

// isExpected reports whether an owner of the line retries, and isn't late.
func (o *line) isExpected(now time.Time) bool {
	return now.Sub(o.retry) <= grace && o.retry.Sub(now) <= maxWait
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
