package throttle

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// cheapPlan is the maximum duration of a plan that runs at every event.
	cheapPlan = time.Millisecond
	// maxDelayInPasses limits the delay of an owner, in passes over it.
	maxDelayInPasses = 16
	// maxDelay limits the delay of an owner.
	maxDelay = 500 * time.Millisecond
	// maxOwners limits the recorded owners. A forgotten owner has its next pass at once.
	maxOwners = 1 << 14
)

// Passes reduces the passes over a large owner. Each of 2000 Jobs has several events, a pass over them takes milliseconds, and most
// events need no action. After each further pass in a row that has changed no child, it delays the owner by the duration of one more
// pass. A single pass then observes all events of the delay. It delays neither owners with cheap plans nor owners with changing
// children. A pass counts as twice its plan, because the observation takes about as long, but may also be a wait for the cache.
type Passes struct {
	delayed *lru.Cache[types.NamespacedName, delay] // by owner
}

type delay struct {
	passes int // in a row that changed no child
	until  time.Time
}

// NewPasses returns a throttle of passes without delayed owners.
func NewPasses() *Passes { return &Passes{newCache[types.NamespacedName, delay]()} }

// Delay returns the remaining delay of an owner; 0 or less if there is none. A clock that was set back doesn't prolong the delay.
func (p *Passes) Delay(owner types.NamespacedName, now time.Time) time.Duration {
	known, ok := p.delayed.Get(owner)
	if !ok {
		return 0
	}
	return min(known.until.Sub(now), maxDelay)
}

// Note records a pass: the duration of its plan, and whether it changed a child.
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
	c, _ := lru.New[K, V](maxOwners) // fails only for a size below 1
	return c
}
