package fairshare

import (
	"sync"
	"time"
)

const (
	// expensive is how long a plan takes at least that is an expensive one. It is half of the time slice of a goroutine.
	expensive = 5 * time.Millisecond
	// remembered is for how long a namespace that had an expensive plan counts as expensive.
	remembered = 10 * time.Second
	// retryAfter is the wait of the first owner that is put off; each further one waits for as much longer, so that thousands of
	// them don't come back at the same time.
	retryAfter = 2 * time.Millisecond
	// maxWait bounds the wait.
	maxWait = time.Second
	// maxNamespaces is how many namespaces are remembered before those without a running plan are forgotten.
	maxNamespaces = 4096
)

// Share says which plans may run. A nil one lets all run; the zero value is not usable, see [New].
type Share struct {
	atOnce int // expensive plans

	mu         sync.Mutex
	running    int // plans of expensive namespaces
	namespaces map[string]*usage
}

// usage is what is known of the plans of a namespace.
type usage struct {
	known     bool      // a plan has ended
	expensive time.Time // when the last expensive plan ended; zero: never
	running   int
	limited   bool // the plan that runs counts as an expensive one
	putOff    int  // owners, since a plan began
}

// New returns a Share of so many CPUs.
func New(cpus int) *Share {
	return &Share{atOnce: max(1, cpus/2), namespaces: map[string]*usage{}}
}

// Turn is a plan that may run. It must be ended.
type Turn struct {
	share     *Share // nil: it has ended, or isn't limited
	namespace string
}

// Begin returns the turn of a plan of a namespace if it may run now. Else it returns after how long to ask again.
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

// End takes how long the plan took. A turn ends once; what follows does nothing.
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

// of returns what is known of a namespace. It makes room if too many are known.
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
