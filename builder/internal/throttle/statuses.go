package throttle

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"
)

// settling divides the time for which a status can wait. Every change waits at least for that part of the time, however long ago the
// last write was, because changes come in bursts, and a status write shouldn't delay the reaction to the next one.
const settling = 4

// Statuses debounces status writes. It has the time of each owner's last status write, and since when a change waits. It doesn't delay
// the status of an unknown owner.
type Statuses struct {
	written *lru.Cache[types.UID, statusWrite] // by owner
}

type statusWrite struct {
	last    time.Time
	pending time.Time // when the change that isn't written yet was first observed; zero if there is none
}

// NewStatuses returns a debounce without owners.
func NewStatuses() Statuses { return Statuses{newCache[types.UID, statusWrite]()} }

// Wrote records a write.
func (s Statuses) Wrote(owner types.UID, now time.Time) { s.written.Add(owner, statusWrite{last: now}) }

// UpToDate records that there is nothing to write.
func (s Statuses) UpToDate(owner types.UID) {
	if known, ok := s.written.Get(owner); ok && !known.pending.IsZero() {
		s.Wrote(owner, known.last)
	}
}

// Delay returns the remaining delay of a changed status; 0 if it is due. canWait is the maximum delay after the last write.
func (s Statuses) Delay(owner types.UID, canWait time.Duration, now time.Time) time.Duration {
	w, ok := s.written.Get(owner)
	if !ok {
		return 0
	}
	if w.pending.IsZero() {
		w.pending = now
		s.written.Add(owner, w)
	}
	left := max(w.last.Add(canWait).Sub(now), w.pending.Add(canWait/settling).Sub(now), 0)
	return min(left, canWait) // a clock that was set back doesn't prolong it
}
