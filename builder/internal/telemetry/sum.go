package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/armature-dev/armature/store"
)

// Sum is a gauge that has the sum of a number over all owners. It remembers only owners whose number isn't 0.
type Sum struct {
	gauge prometheus.Gauge

	mu     sync.Mutex
	counts map[store.Key]map[string]int // owner -> scope of a pass -> number
}

func newSum(gauge prometheus.Gauge) *Sum {
	return &Sum{gauge: gauge, counts: map[store.Key]map[string]int{}}
}

// Set sets the number of an owner, as of its last pass of a scope.
func (s *Sum) Set(owner store.Key, scope string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	scopes := s.counts[owner]
	was := scopes[scope]
	switch {
	case was == n:
		return
	case n == 0:
		delete(scopes, scope)
		if len(scopes) == 0 {
			delete(s.counts, owner)
		}
	default:
		if scopes == nil {
			scopes = map[string]int{}
			s.counts[owner] = scopes
		}
		scopes[scope] = n
	}
	s.gauge.Add(float64(n - was))
}

// Forget drops an owner.
func (s *Sum) Forget(owner store.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.counts[owner] {
		s.gauge.Sub(float64(n))
	}
	delete(s.counts, owner)
}
