package throttle

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// cheapPlan is the duration up to which a plan is made at every event.
	cheapPlan = time.Millisecond
	// maxDelayInPasses bounds the delay of an owner, in passes over it,
	maxDelayInPasses = 16
	// maxDelay and in time.
	maxDelay = 500 * time.Millisecond
	// maxOwners bounds what is remembered. An owner that is forgotten has its next pass at once.
	maxOwners = 1 << 14
)

// Passes makes the passes over a large owner fewer than its events: each of 2000 Jobs has a handful, a pass over them takes
// milliseconds, and most events are no reason to do anything. After each further pass in a row that has changed no child the owner is
// delayed by the duration of one more pass; a single pass then sees all events that came meanwhile. Owners with cheap plans aren't
// delayed, nor are those whose children change. A pass counts as twice its plan: to observe takes about as long, but may also be a wait
// for the cache, which is no work.
type Passes struct {
	delayed *lru.Cache[types.NamespacedName, delay] // by owner
}

type delay struct {
	passes int // in a row that changed no child
	until  time.Time
}

// NewPasses returns a throttle of passes that delays no owner yet.
func NewPasses() *Passes { return &Passes{newCache[types.NamespacedName, delay]()} }

// Left returns how long an owner is still delayed; 0 or less if it isn't. A clock that was set back doesn't prolong the delay.
func (p *Passes) Left(owner types.NamespacedName, now time.Time) time.Duration {
	known, ok := p.delayed.Get(owner)
	if !ok {
		return 0
	}
	return min(known.until.Sub(now), maxDelay)
}

// Note notes a pass: the duration of its plan, and whether it changed a child.
func (p *Passes) Note(owner types.NamespacedName, plan time.Duration, changed bool, now time.Time) {
	if changed || plan < cheapPlan {
		p.delayed.Remove(owner)
		return
	}
	passes := 1
	if known, ok := p.delayed.Get(owner); ok {
		passes += known.passes
	}
	passes = min(passes, maxDelayInPasses)
	p.delayed.Add(owner, delay{passes, now.Add(min(2*plan*time.Duration(passes), maxDelay))})
}

func newCache[K comparable, V any]() *lru.Cache[K, V] {
	c, err := lru.New[K, V](maxOwners)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return c
}
