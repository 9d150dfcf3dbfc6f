package builder

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// cheapPlan is how long a plan may take to be made at every event.
	cheapPlan = time.Millisecond
	// maxRestPasses bounds how long an owner rests, in passes over it,
	maxRestPasses = 16
	// maxRest and in time.
	maxRest = 500 * time.Millisecond
)

// pace lets the passes over a large owner be fewer than the events: each of 2000 Jobs has a handful, a look at them all
// takes milliseconds, and most events are no reason to do anything. After each further pass in a row that has changed
// no child the owner rests for the time of one pass more; what happens meanwhile is seen by one pass then. Owners whose
// plans are cheap don't rest, nor do those that get or lose children. A pass is taken for twice its plan: to look takes
// about as long, but may also be to wait for the cache, which is no work.
type pace struct {
	resting *recent[types.NamespacedName, rest] // by owner
}

type rest struct {
	passes int // in a row that changed no child
	until  time.Time
}

func newPace() *pace { return &pace{newRecent[types.NamespacedName, rest]()} }

// left is how long an owner still rests. A clock that was put back makes it no longer than it would be.
func (p *pace) left(owner types.NamespacedName, now time.Time) time.Duration {
	known, ok := p.resting.Get(owner)
	if !ok {
		return 0
	}
	return min(known.until.Sub(now), maxRest)
}

// note tells of a pass: how long its plan took, and whether it changed a child.
func (p *pace) note(owner types.NamespacedName, plan time.Duration, changed bool, now time.Time) {
	if changed || plan < cheapPlan {
		p.resting.Remove(owner)
		return
	}
	passes := 1
	if known, ok := p.resting.Get(owner); ok {
		passes += known.passes
	}
	passes = min(passes, maxRestPasses)
	p.resting.Add(owner, rest{passes, now.Add(min(2*plan*time.Duration(passes), maxRest))})
}
