package fairshare

import (
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
	// maxNamespaces is the number of recorded namespaces above which those without a running plan are dropped.
	maxNamespaces = 4096
)

// Share decides which plans may run. A nil one lets all run; the zero value is not usable, see [New].
type Share struct {
	atOnce int // expensive plans

	mu         sync.Mutex
	running    int // plans of expensive namespaces
	namespaces map[string]*usage
}

// usage is the record of a namespace's plans.
type usage struct {
	known     bool      // a plan has ended
	expensive time.Time // when the last expensive plan ended; zero: never
	running   int
	limited   bool // the plan that runs counts as an expensive one
	putOff    int  // delayed owners, since a plan began
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
	if (limited || !u.known) && u.running > 0 || limited && s.running >= s.atOnce {
		u.putOff++
		return Turn{}, min(time.Duration(u.putOff)*retryAfter, maxWait)
	}
	u.putOff = 0
	u.running++
	if limited {
		u.limited = true
		s.running++
	}
	return Turn{s, namespace}, 0
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
